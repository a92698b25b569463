"""Accounts, what proves who they are (passwords, invitations, tokens, sessions), and mail to them.

Signing in, and the pages about people, are in access.
"""
