"""What a person sees across rooms: home, notices, search, help, event log, saved filters, columns,
and what Admins see of the instance.

Pages about one subject are with it.
"""
