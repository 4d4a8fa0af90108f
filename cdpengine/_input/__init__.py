"""Actions on nodes by real input events: geometry, actionability, devices, text entry, forms."""
