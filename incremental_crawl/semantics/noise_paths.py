"""Noise rules for all lines at one element path: rotating lists, shuffled lists, lines with changing words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest

from incremental_crawl.semantics.noise_mask import HOLE, Mask, Placed, Template

# Shares of the lines at one path; a list of links may change less to count as rotating, since prose has few links.
_CHANGED_SHARE = 0.5
_CHANGED_SHARE_OF_LINKS = 1 / 3
_CHANGED_SHARE_WHEN_REORDERED = 0.25
_IN_PLACE_SHARE = 0.2
_MOST_EQUAL_TEXT = 0.3
_SHARE_OF_LINKS = 1 / 3

_WORDS = re.compile(r"\w(?:[\w.,:]*\w)?|\s+|[^\w\s]")
_QUERY_WORDS = re.compile(r"[^?&=;>]+|[?&=;>]")
_LINK = re.compile(r"(?:a|img) <[^\w?]*")


def path_rules(first: Sequence[Placed], second: Sequence[Placed]) -> Mask:
    """The rules that concern whole element paths, from two loads of one moment."""
    text = max(_characters(line for line, _ in first), 1)
    firsts, seconds = _by_path(first), _by_path(second)
    changed = [path for path in sorted(firsts.keys() | seconds.keys()) if firsts.get(path) != seconds.get(path)]
    rotating = _rotating_containers(first, second, {path >> 32 for path in changed}, text)
    mask = Mask()
    for path in changed:
        rule = _rule(path, firsts.get(path, []), seconds.get(path, []), text)
        if rule.is_empty and path >> 32 in rotating:
            rule = Mask(paths=frozenset({path}))
        mask = mask.union(rule)
    return mask


def _rotating_containers(
    first: Sequence[Placed], second: Sequence[Placed], candidates: AbstractSet[int], text: int
) -> AbstractSet[int]:
    """Containers of rotating links: what else changes in them belongs to the entries."""
    mine = _by_path([(line, path >> 32) for line, path in first if path >> 32 in candidates])
    other = _by_path([(line, path >> 32) for line, path in second if path >> 32 in candidates])
    both = mine.keys() & other.keys()
    return {key for key in both if are_links(_telling(mine[key], [])[0]) and _rotates(mine[key], other[key], text)}


def _rule(path: int, mine: Sequence[str], other: Sequence[str], text: int) -> Mask:
    if Counter(mine) == Counter(other):
        return Mask(unordered=frozenset({path}))
    templates = _templates(path, mine, other)
    if templates:
        return Mask(templates=templates)
    return Mask(paths=frozenset({path})) if _rotates(mine, other, text) else Mask()


def _rotates(mine: Sequence[str], other: Sequence[str], text: int) -> bool:
    """Whether the lines of one path are a rotating list, so that the equal ones among them are chance.

    Content that did not change keeps its order and its place from the top or the end; chance matches rarely do.
    """
    common = Counter(mine) & Counter(other)
    if not common:
        return bool(mine) and bool(other)
    if _characters(common.elements()) >= _MOST_EQUAL_TEXT * text:
        return False
    return _changes_like_a_list(*_telling(mine, other))


def _changes_like_a_list(mine: Sequence[str], other: Sequence[str]) -> bool:
    common = set(mine) & set(other)
    size = max(len(mine), len(other))
    changed = size - len(common)
    if not changed:
        return False
    if are_links(mine) and changed >= _CHANGED_SHARE_OF_LINKS * size:
        return True
    if _in_place(mine, other) > _IN_PLACE_SHARE * size:
        return False
    reordered = [line for line in mine if line in common] != [line for line in other if line in common]
    return changed >= (_CHANGED_SHARE_WHEN_REORDERED if reordered else _CHANGED_SHARE) * size


def _telling(mine: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both lists without the lines that each entry repeats, such as "Read more"."""
    repeated = {line for lines in (mine, other) for line, count in Counter(lines).items() if count > 1}
    return [line for line in mine if line not in repeated], [line for line in other if line not in repeated]


def are_links(lines: Sequence[str]) -> bool:
    """Whether the lines are mostly links: each with its text line and its `a <…>` line."""
    return sum(line.startswith("a <") for line in lines) >= _SHARE_OF_LINKS * len(lines)


def _in_place(mine: Sequence[str], other: Sequence[str]) -> int:
    ahead = {i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a == b}
    last = len(mine) - 1
    behind = {last - i for i, (a, b) in enumerate(zip(reversed(mine), reversed(other), strict=False)) if a == b}
    return len(ahead | behind)


def _templates(path: int, mine: Sequence[str], other: Sequence[str]) -> tuple[Template, ...]:
    """Templates for all differing lines of a path, or none at all: a half-explained list is no template."""
    found: dict[Template, None] = {}
    for a, b in zip_longest(mine, other):
        if a == b:
            continue
        template = template_of(path, a, b) if a is not None and b is not None else None
        if template is None:
            return ()
        found[template] = None
    stable = Counter(mine) & Counter(other)
    patterns = [template.compiled() for template in found]
    hides = any(pattern.fullmatch(line) for pattern in patterns for line in stable)
    return () if hides else tuple(found)


def template_of(path: int, first: str, second: str) -> Template | None:
    """The template of two lines that share words and differ only in words that hold a digit; None for others.

    In the query of a link any word may differ.
    """
    mine, other = _words(first), _words(second)
    if len(mine) != len(other) or HOLE in first:
        return None
    literals = [""]
    in_query = False
    for a, b in zip(mine, other, strict=True):
        in_query = in_query or (a == "?" and first.startswith(("a <", "img <")))
        if a == b:
            literals[-1] += a
        elif in_query or (_has_digit(a) and _has_digit(b)):
            literals.append("")
        else:
            return None
    return Template(path, tuple(literals)) if _tells(literals) else None


def _words(line: str) -> list[str]:
    head, mark, query = line.partition("?") if _LINK.match(line) else (line, "", "")
    return _WORDS.findall(head) + ([mark, *_QUERY_WORDS.findall(query)] if mark else [])


def _tells(literals: Sequence[str]) -> bool:
    """Whether the words that stay name the line; the sign of a link alone does not."""
    return any(re.search(r"\w", _LINK.sub("", literal)) for literal in literals)


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _by_path(placed: Sequence[Placed]) -> Mapping[int, list[str]]:
    lines: dict[int, list[str]] = {}
    for line, path in placed:
        lines.setdefault(path, []).append(line)
    return lines


def _characters(lines: Iterable[str]) -> int:
    return sum(map(len, lines))
