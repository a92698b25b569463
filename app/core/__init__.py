"""The ground of all rooms: settings, database, locks, permissions, errors, writing events,
requests to other servers. It answers no request and knows no subject.
"""
