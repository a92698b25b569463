"""Who may come in, and how: signing in, single sign-on, people, groups, service accounts,
directories, reviews, and the security log.

Passwords, invitations and tokens themselves are in accounts.
"""
