"""URLs, each question in one module: reading, hosts, origins, patterns, query parameters, and mistaken strings.

Rule: pure, and below all layers. A layer adds only its own policy: the URLs that a client may open
(`service/url_policy.py`), the URLs that are one page for the cache (`cache/addresses.py`), and the URLs that a
crawl visits once (`pool/manners/seen_urls.py`).
"""
