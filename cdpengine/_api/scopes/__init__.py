"""Parts of pages, contexts and browsers: network, emulation, storage, scripts and measurements."""
