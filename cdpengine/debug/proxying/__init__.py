"""A man in the middle between a client and a browser, and the server that both it and a replay listen with.

The folder is not called "proxy": `cdpengine.debug.proxy` is the function.
"""
