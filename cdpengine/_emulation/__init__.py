"""Device, locale, geolocation and user-agent emulation; proxies and permissions."""
