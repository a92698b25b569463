"""What there is to switch: projects and their rules, environments, features, tags, segments,
context, types of strategies, tokens of SDKs, the archive.

Switching is in releases.
"""
