"""What applications get and report: APIs for SDKs, sites that may read, use, playground, webhooks.

Tokens of applications are in the catalogue.
"""
