"""Browser, BrowserContext and Page, and the two ways to get them: launch and connect."""
