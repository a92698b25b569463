"""Accounts and what proves who they are: passwords, invitations, tokens, sessions.

Signing in, and the pages about people, are in access.
"""
