"""Parameters that never make another page: session ids and the marks that campaigns leave on links.

Only names that mean nothing else are in the list; what may be one site's content (`ref`, `id`, `page`, a short `sid`)
is for the site file to name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, unquote_plus

from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.urls import canonical_url

NAMES: Mapping[str, str] = {
    "utm_*": "campaign tags of Google Analytics, read by most others too",
    "gclid": "click id of Google Ads",
    "gclsrc": "origin of a Google Ads click id",
    "dclid": "click id of Google's display network",
    "gbraid": "click id of Google Ads on iOS",
    "wbraid": "click id of Google Ads on iOS",
    "gad_source": "Google Ads",
    "gad_campaignid": "Google Ads",
    "srsltid": "click id of Google's shopping results",
    "_ga": "visitor id of Google Analytics, carried between hosts",
    "_gl": "visitor id of Google Analytics, carried between hosts",
    "_gac": "visitor id of Google Analytics, carried between hosts",
    "fbclid": "click id of Facebook",
    "fb_action_ids": "share on Facebook",
    "fb_action_types": "share on Facebook",
    "igshid": "share on Instagram",
    "msclkid": "click id of Microsoft Advertising",
    "mc_cid": "campaign of Mailchimp",
    "mc_eid": "recipient of a Mailchimp mail",
    "yclid": "click id of Yandex",
    "ysclid": "click id of Yandex's search",
    "_openstat": "campaign tag of Openstat",
    "twclid": "click id of Twitter",
    "ttclid": "click id of TikTok",
    "li_fat_id": "click id of LinkedIn",
    "epik": "click id of Pinterest",
    "mkt_tok": "recipient of a Marketo mail",
    "_hsenc": "recipient of a HubSpot mail",
    "_hsmi": "mail of HubSpot",
    "__hstc": "visitor id of HubSpot",
    "__hssc": "session of HubSpot",
    "__hsfp": "visitor id of HubSpot",
    "hsctatracking": "click on a HubSpot button",
    "vero_id": "recipient of a Vero mail",
    "vero_conv": "mail of Vero",
    "oly_anon_id": "visitor id of Omeda",
    "oly_enc_id": "recipient of an Omeda mail",
    "wickedid": "click id of Wicked Reports",
    "_kx": "recipient of a Klaviyo mail",
    "_branch_match_id": "click id of Branch",
    "mtm_*": "campaign tags of Matomo",
    "pk_campaign": "campaign tag of Piwik",
    "pk_kwd": "campaign tag of Piwik",
    "piwik_campaign": "campaign tag of Piwik",
    "piwik_kwd": "campaign tag of Piwik",
    "wt.mc_id": "campaign tag of Webtrends",
    "phpsessid": "session of PHP",
    "jsessionid": "session of Java servlets, mostly as a path parameter (`;jsessionid=…`)",
    "aspsessionid*": "session of ASP",
    "oscsid": "session of osCommerce",
    "zenid": "session of Zen Cart",
    "cftoken": "session of ColdFusion, beside CFID",
}
"""Names in small letters, `*` for any characters, each with what it is; case does not count."""

SESSION_NAMES = ("s", "sid", "sess", "session", "session_id", "sessionid", "sessid", "xsid")
"""Names that hold a session id only where the value looks like one: 32 or more hexadecimal digits."""

TRACKING_FINGERPRINT = sha256_text(canonical_json([*NAMES, *SESSION_NAMES]))[:16]
"""Changes with the lists: listings that were sifted by others are read anew."""

_NAME = re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in NAMES), re.IGNORECASE | re.DOTALL)
_SESSION = re.compile(rf"(?:{'|'.join(SESSION_NAMES)})=[0-9a-f]{{32,}}", re.IGNORECASE)
# ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/orders, also with A(…) and F(…).
_SESSION_SEGMENT = re.compile(r"\((?:[ASF]\([A-Za-z0-9_-]{20,}\))+\)")


def without_tracking(canonical: str) -> str:
    """The canonical URL without session ids and tracking parameters; applying it twice changes nothing."""
    if "?" not in canonical and ";" not in canonical and "(" not in canonical:
        return canonical
    head, mark, query = canonical.partition("?")
    stripped = _path(head) + _query(mark, query)
    return canonical if stripped == canonical else canonical_url(stripped)


def _path(head: str) -> str:
    if "(" in head:
        head = "/".join(part for part in head.split("/") if not _SESSION_SEGMENT.fullmatch(part))
        head = head if head.count("/") > 2 else f"{head}/"
    if ";" not in head:
        return head
    return "/".join(_segment(part) for part in head.split("/"))


def _segment(segment: str) -> str:
    name, *parameters = segment.split(";")
    return ";".join((name, *(each for each in parameters if not _is_tracking(unquote(each)))))


def _query(mark: str, query: str) -> str:
    parameters = query.split("&")
    kept = [each for each in parameters if not _is_tracking(unquote_plus(each))]
    if len(kept) == len(parameters):
        return mark + query
    return f"?{'&'.join(kept)}" if any(kept) else ""


def _is_tracking(parameter: str) -> bool:
    return _NAME.fullmatch(parameter.partition("=")[0]) is not None or _SESSION.fullmatch(parameter) is not None
