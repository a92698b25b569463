"""What a person sees across rooms: home, notices, search, help, event log, saved filters, columns.

Pages about one subject are with it.
"""
