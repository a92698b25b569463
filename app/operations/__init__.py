"""Running an instance: server, commands, backup, restore, move, the doctor, and the demo.

What people do in a browser is not here.
"""
