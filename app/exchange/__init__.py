"""Whole instances and projects in and out: as documents, and from and to Unleash.

Downloads of a list are with the list.
"""
