"""The parts of a page, a context and a browser: network, emulation, storage, scripts, measuring, the window."""
