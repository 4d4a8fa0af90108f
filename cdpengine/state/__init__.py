"""What a browser keeps and pretends: cookies, storages, permissions, and what pages are told of the device.

Rule: each module works over sessions alone, costs nothing until it is used, and takes back what it did.
"""
