"""Elements around the content that change by themselves: consent dialogs, advertisements, related and share boxes."""

from __future__ import annotations

import re

# Whole class names, in kebab-case: `share-price` and `related-work` are content.
_CLASSES = re.compile(
    r"""
    (?:[\w-]+-)? (?:cookies?|consent|gdpr|ccpa) (?:-\w+)*?
        -?(?:banner|notice|bar|popup|modal|dialog|overlay|wall|message|prompt|consent)
    | cookies? | gdpr | onetrust(?:-[\w-]+)?
    | (?:[\w-]+-)? (?:ads?|adverts?|advertisements?|advertising) (?:-(?:slot|unit|box|banner|container|wrapper|block|
        space|area|label|top|bottom|left|right|sidebar|inline|\d+))*
    | adsbygoogle | ad[sb]?(?:slot|box|unit|banner) | google-ads? | dfp(?:-[\w-]+)? | (?:outbrain|taboola)(?:-[\w-]+)?
    | (?:sponsor(?:ed|s)?|promoted) (?:-(?:content|posts?|links?|blocks?|box|section|by|label|message))*
    | (?:[\w-]+-)? related (?:-(?:posts?|articles?|links?|products?|items?|stories|story|content|pages?|news|reading|
        topics?|list|box|block|section|widget|container|wrapper|videos?|entries|documents?|title|heading))*
    | (?:[\w-]+-)? recommend(?:s|ed|ations?)? (?:-\w+)*
    | (?:social-)? (?:share|sharing) (?:-(?:buttons?|bar|links?|icons?|box|block|tools?|widget|this|list|wrapper|
        container|count|menu))*
    | social (?:-(?:share|sharing|links?|media|buttons?|icons?|bar|nav|list|follow|menu|widget))*
    | newsletter (?:-(?:signup|sign-up|form|box|block|banner|section|subscribe|widget|popup|modal|container|wrapper))*
    """,
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ASIDE_IN_CONTENT = re.compile(
    r"note|tip|hint|warning|caution|danger|important|info|admonition|callout|citation|topic|example", re.IGNORECASE
)


def is_furniture(tag: str, classes: str, role: str) -> bool:
    """Whether an element is left out of the lines, from its tag name, class attribute and role ("" where absent).

    Ids are not looked at: section ids of documents are made from headings such as "Related".
    """
    if tag in ("main", "article"):
        return False
    if tag == "dialog" or role in ("dialog", "alertdialog"):
        return True
    if tag == "aside":
        return not _ASIDE_IN_CONTENT.search(classes)
    return any(_CLASSES.fullmatch(_kebab(name)) for name in classes.split())


def _kebab(name: str) -> str:
    return _CAMEL.sub("-", name).replace("_", "-").replace("--", "-").lower()
