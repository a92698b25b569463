"""Changing what is on, alone or with approval: switching, rollouts, variants, change requests,
schedules.

What applications get is in delivery.
"""
