"""Flagstaff: the administration portal for feature toggles."""
