"""Changing what is on, alone or with approval: switching, rollouts, variants, releases in steps,
change requests, schedules; and acting on selected features of several projects.

What applications get is in delivery.
"""
