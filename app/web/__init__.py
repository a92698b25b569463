"""What all pages and APIs share of HTTP: routes, the base of schemas and forms, errors, exports,
metrics, health.

No page of a subject is here.
"""
