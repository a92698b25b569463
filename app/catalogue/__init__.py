"""What there is to switch: projects and the approvals they need, environments, features, tags,
segments, context, types of strategies, tokens of SDKs, the archive.

Switching is in releases.
"""
