"""Whether a feature is on for a context, and why: decided by Unleash’s engine.

It knows no database and no request.
"""
