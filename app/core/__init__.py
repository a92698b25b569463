"""The ground of all rooms: settings, database, locks, permissions, errors, writing events.

It knows no HTTP and no subject.
"""
