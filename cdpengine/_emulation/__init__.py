"""What a browser is made to pretend: devices, places, user agents, proxies, permissions."""
