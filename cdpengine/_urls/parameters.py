"""Query parameters of URLs: their names, and those that only track visitors. Pure."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import unquote_plus

TRACKING_PARAMETERS: frozenset[str] = frozenset(
    {
        "utm_*", "mtm_*", "pk_*", "piwik_*", "hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp",
        "hsctatracking", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "_ga", "_gl", "fbclid",
        "fb_action_ids", "msclkid", "yclid", "ysclid", "ttclid", "twclid", "li_fat_id", "igshid", "igsh",
        "mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "s_cid", "wickedid",
        "rb_clickid", "epik", "spm", "scm", "_openstat",
    }
)  # fmt: skip
"""Tracking parameters, in lowercase; `*` at the end matches any ending.

After the lists of EasyPrivacy and of browsers that remove them (Firefox's query stripping, Brave).
"""


def is_listed(name: str, names: Collection[str]) -> bool:
    """Return whether a parameter's name is listed, in any case. "utm_*" matches all names with that beginning."""
    lower = name.lower()
    return lower in names or any(each.endswith("*") and lower.startswith(each[:-1]) for each in names)


def named_items(query: str) -> list[tuple[str, str]]:
    """Return the decoded name of each parameter in a query, and the parameter as it is written."""
    return [(unquote_plus(item.partition("=")[0]), item) for item in query.split("&")]
