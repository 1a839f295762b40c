"""Honest hosts with noisy pages are never accused of a false 304; hosts that lie about such pages are found.

Honest: a 304 says that nobody edited the page since its validator was handed out. Noisy: what differs from load to load
does not move the validator, so such a 304 looks false. A host is simulated from its edits to its ledger; what
is noise, what an audit asks and concludes and what the ledger learns is decided by the functions that the stages ask.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import TypeAlias

import pytest

from incremental_crawl.semantics.audit import Inquiry, Question, Verdict, begin, weigh
from incremental_crawl.semantics.decision import (
    Baseline,
    Content,
    Evidence,
    Judgement,
    differing_places,
    judge_content,
    teach,
)
from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.site_noise import SiteNoise
from incremental_crawl.semantics.trust import Evidence as Answers
from incremental_crawl.semantics.trust import Ledger, Signature, TrustMode, audit_share, learn

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SHARES = (0.02, 0.04, 0.2, 0.5, 1.0)
FAILS = 0.02
"""The share of further loads and repeated conditions that get no answer."""
RACES = 0.02
"""How often somebody edits or touches a page, or takes an edit back, just before a request of a check."""
TITLE, BODY, SIDE, ADVERTS, TEASERS, LIST, PRICE, FOOT = (place << 32 | place for place in range(1, 9))
WORDS = "amber bridge candle desert ember forest garden harbour island jungle kettle lantern meadow needle".split()

Skips: TypeAlias = Callable[[Inquiry, Question], bool]
"""Which questions of an audit are not asked, but taken for answered against the server."""


def nothing(inquiry: Inquiry, question: Question) -> bool:
    """Every question is asked."""
    return False


# What the host does


class Noise:
    """What a host's template shows differently at each load; every kind on every page, or on some."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._requests = 0
        self._pool = [f"{chance.choice(WORDS)} offer {number}" for number in range(chance.randint(4, 30))]
        self._turn_about = chance.random() < 0.5
        kinds = (self._token, self._counter, self._stamp, self._adverts, self._teasers, self._variant, self._shuffled)
        self._kinds = chance.sample(kinds, chance.randint(0, 5))

    def lines(self, flickers: bool) -> list[tuple[str, int]]:
        """The lines of one load besides the page's own, in places of the template."""
        self._requests += 1
        placed = [line for kind in self._kinds for line in kind()]
        price = self._chance.choice(("4 left", "3 left")) if flickers else "in stock"
        return [(f"Now {price}", PRICE), *placed]

    def fields(self, flickers: bool) -> dict[str, str]:
        """The fields of one load that a flickering page shows at random."""
        self._requests += 1
        return {"offer": self._face() if flickers else "none"}

    def _face(self) -> str:
        """One of two back ends answers: by turns, or whichever is free."""
        return "warm" if (self._requests % 2 if self._turn_about else self._chance.random() < 0.5) else "cold"

    def _token(self) -> list[tuple[str, int]]:
        return [(f"img </logo.png?v={self._chance.getrandbits(64):x}>", SIDE)]

    def _counter(self) -> list[tuple[str, int]]:
        return [(f"Visitor {1_000 + self._requests} of today", SIDE + 1)]

    def _stamp(self) -> list[tuple[str, int]]:
        minute, second = divmod(self._requests, 60)
        return [(f"Generated at 12:{minute:02}:{second:02} for you", FOOT)]

    def _adverts(self) -> list[tuple[str, int]]:
        return [(entry, ADVERTS) for entry in self._chance.sample(self._pool, 3)]

    def _teasers(self) -> list[tuple[str, int]]:
        entries = self._chance.sample(self._pool, 3)
        return [line for entry in entries for line in ((entry, TEASERS), (f"a </{entry}>", TEASERS))]

    def _variant(self) -> list[tuple[str, int]]:
        return [(f"Served {self._face()} today", SIDE + 2)]

    def _shuffled(self) -> list[tuple[str, int]]:
        return [(word, LIST) for word in self._chance.sample(WORDS[:6], 6)]


class Document:
    """A page as its server knows it: the text that somebody wrote, and the validator that stands for it."""

    def __init__(self, host: Host, chance: random.Random) -> None:
        self._host = host
        self._chance = chance
        self._flickers = chance.random() < 0.15
        self._before = self.text = [self._sentence() for _ in range(chance.randint(2, 6))]
        self._touched = 0
        self._edits = 0

    @property
    def tag(self) -> str:
        """Made of the text, or of the number of edits; a host that lies has one that only a touch moves."""
        if self._host.lies:
            return f"{self._touched}"
        return f"{self._touched} {self.text}" if self._host.hashes else f"{self._touched} {self._edits}"

    def edit(self) -> None:
        """Somebody rewrites a line, adds or removes one."""
        self._before, self._edits = self.text, self._edits + 1
        place = self._chance.randrange(len(self.text))
        rest = self.text[place + 1 :] if self._chance.random() < 0.8 and len(self.text) > 2 else self.text[place:]
        self.text = [*self.text[:place], self._sentence(), *rest]

    def undo(self) -> None:
        """The last edit is taken back."""
        self.text, self._edits = self._before, self._edits + 1

    def touch(self) -> None:
        """The validator moves, the text does not."""
        self._touched += 1

    def meddle(self) -> None:
        """Something may happen between two requests of a visit."""
        if self._chance.random() < RACES:
            self._chance.choice((self.edit, self.edit, self.undo, self.undo, self.touch))()

    def load(self) -> Content:
        """What a request without a condition brings."""
        if self._host.has_fields:
            record = canonical_json({"text": self.text} | self._host.noise.fields(self._flickers))
            return Content(record, sha256_text(record))
        placed = [("The title", TITLE), *((line, BODY) for line in self.text), *self._host.noise.lines(self._flickers)]
        lines = tuple(line for line, _ in placed)
        record = canonical_json(list(lines))
        return Content(record, sha256_text(record), lines, tuple(path for _, path in placed))

    def _sentence(self) -> str:
        return f"{' '.join(self._chance.choices(WORDS, k=5))} {self._chance.randrange(1_000)}"


class Host:
    """A server of a few pages, their edits and its deployments."""

    def __init__(self, chance: random.Random, lies: bool = False) -> None:
        self._chance = chance
        self.lies = lies
        self.has_fields = chance.random() < 0.4
        self.hashes = chance.random() < 0.5
        self.noise = Noise(chance)
        self.documents = [Document(self, chance) for _ in range(chance.randint(1, 8))]
        self._edited, self._touched = chance.choice((0.0, 0.05, 0.2)), chance.choice((0.0, 0.05, 0.2))

    def live(self, visit: int) -> None:
        """What happens between two visits."""
        deployed = not self.lies and visit % 4 == 3 and self._chance.random() < 0.3
        for document in self.documents:
            if self._chance.random() < self._edited:
                document.edit()
            if deployed or (self._chance.random() < self._touched and not self.lies):
                document.touch()


# What the crawler does


@dataclass
class Held:
    """What the crawler holds of a page; `text` is what somebody had written by then, which no crawler can know."""

    document: Document
    baseline: Baseline
    tag: str
    text: list[str]
    last_audit: int = -1


class Check:
    """One load of a page that is held, and all that is asked before something is decided about it."""

    def __init__(self, held: Held, noise: SiteNoise, chance: random.Random) -> None:
        self._held, self._noise, self._chance = held, noise, chance
        self._document = held.document
        self._document.meddle()
        self._found, self._tag, self._text = self._document.load(), self._document.tag, self._document.text
        self._pairs: list[Content] = []
        self.judgement = self._judged()
        while self.judgement.needs_pair:
            self.judgement = self._judged_with_one_more()

    def audited(self, skips: Skips) -> Verdict:
        """The verdict on a page that was answered 304."""
        places = self._differing(self._held.baseline.content)
        inquiry = begin(self.judgement, places, len(self._pairs))
        while isinstance(asked := weigh(inquiry), Question):
            if asked is Question.LOAD:
                inquiry = inquiry.loaded(frozenset() if skips(inquiry, asked) else self._moved())
            else:
                inquiry = inquiry.answered(Outcome.NOT_MODIFIED if skips(inquiry, asked) else self._answer())
        return asked

    def keep(self) -> None:
        """Hold what was found; its validators come with it."""
        held, own = self._held, self.judgement
        content = self._found if own.outcome is Outcome.CHANGED else held.baseline.content
        held.baseline = Baseline(content, own.compare_sha256, own.mask, own.unpaired)
        held.tag, held.text = self._tag, self._text

    def _judged(self) -> Judgement:
        return judge_content(self._held.baseline, self._found, Evidence(self._noise, self._pairs))

    def _judged_with_one_more(self) -> Judgement:
        again = self._load()
        if again is None:
            return Judgement(Outcome.RETRY_LATER)
        self._pairs.append(again)
        teach(self._noise, self._held.baseline, self._found, self._pairs)
        return self._judged()

    def _moved(self) -> frozenset[int] | None:
        again = self._load()
        return None if again is None else self._differing(again)

    def _differing(self, other: Content) -> frozenset[int]:
        return differing_places(self.judgement, self._found, other, self._noise)

    def _load(self) -> Content | None:
        self._document.meddle()
        return None if self._chance.random() < FAILS else self._document.load()

    def _answer(self) -> Outcome:
        """What the condition is answered that was answered 304 before."""
        self._document.meddle()
        if self._chance.random() < FAILS:
            return Outcome.RETRY_LATER
        return Outcome.NOT_MODIFIED if self._document.tag == self._held.tag else Outcome.MODIFIED


class Crawler:
    """Visits a host: sweep, audit, ledger."""

    def __init__(self, host: Host, chance: random.Random, skips: Skips) -> None:
        self._chance, self._host, self._skips = chance, host, skips
        self._share = chance.choice(SHARES)
        self._noise = SiteNoise()
        self._held = [self._first_sight(document) for document in host.documents]
        self.verdicts: Counter[Verdict] = Counter()
        self.lies_audited = self.wronged = 0
        self.ledger = Ledger("shop.example", "/")

    def visit(self, number: int) -> None:
        """One visit; every page is due."""
        confirmed, unchanged = [], 0
        for held in self._held:
            if held.document.tag == held.tag:
                confirmed.append(held)
            else:
                unchanged += self._checked(held) is Outcome.SAME_HASH
        drawn = self._drawn(confirmed)
        verdicts = Counter(self._audited(held, number) for held in drawn)
        self.verdicts += verdicts
        false = verdicts[Verdict.FALSE_304]
        seen = Answers(
            conditional=len(self._held),
            not_modified=len(confirmed),
            same_record=unchanged,
            both_moved=unchanged,
            audits=len(drawn) - verdicts[Verdict.PUT_OFF],
            false_304=false,
            false_on_fields=false if self._host.has_fields else 0,
        )
        self.ledger = learn(self.ledger, seen, NOW + timedelta(days=number), 0.05)

    def _first_sight(self, document: Document) -> Held:
        found = document.load()
        return Held(document, Baseline(found, found.content_sha256, None), document.tag, document.text)

    def _checked(self, held: Held) -> Outcome:
        check = Check(held, self._noise, self._chance)
        if check.judgement.outcome is not Outcome.RETRY_LATER:
            check.keep()
        return check.judgement.outcome

    def _drawn(self, confirmed: list[Held]) -> list[Held]:
        most = ceil(audit_share(self._share, self.ledger) * len(confirmed))
        return sorted(confirmed, key=lambda held: (held.last_audit, self._chance.random()))[:most]

    def _audited(self, held: Held, number: int) -> Verdict:
        held.last_audit = number
        check = Check(held, self._noise, self._chance)
        verdict = check.audited(self._skips)
        lied = held.text != held.document.text
        self.lies_audited += lied
        self.wronged += verdict is Verdict.FALSE_304 and not lied
        if verdict is not Verdict.PUT_OFF:
            check.keep()
        return verdict


def crawled(seed: int, skips: Skips = nothing, lies: bool = False) -> Crawler:
    """A host after its visits, the last of which may have distrusted it."""
    chance = random.Random(seed)
    host = Host(chance, lies)
    crawler = Crawler(host, chance, skips)
    for number in range(chance.randint(4, 10)):
        host.live(number)
        crawler.visit(number)
        if crawler.ledger.cause is Signature.FALSE_304:
            break
    return crawler


# What comes of it


def test_a_thousand_honest_noisy_hosts_are_never_distrusted() -> None:
    verdicts: Counter[Verdict] = Counter()
    for seed in range(1_000):
        crawler = crawled(seed)
        assert crawler.ledger.mode is TrustMode.BOTH, seed
        assert crawler.ledger.false_304 == 0, seed
        verdicts += crawler.verdicts
    assert verdicts[Verdict.TRUE] > 5_000
    assert min(verdicts[Verdict.PUT_OFF], verdicts[Verdict.RACE]) > 50, "noise and races were met"


@pytest.mark.parametrize(
    ("skips", "accused"),
    [
        pytest.param(lambda _, asked: asked is Question.LOAD, 20, id="without further loads"),
        pytest.param(lambda own, _: own.repeated is not None, 10, id="with one second load alone"),
        pytest.param(lambda _, asked: asked is Question.CONDITION, 3, id="without the repeated condition"),
    ],
)
def test_honest_hosts_are_accused_where_less_is_asked(skips: Skips, accused: int) -> None:
    hosts = [crawled(seed, skips) for seed in range(100)]
    assert sum(host.ledger.false_304 > 0 for host in hosts) >= accused
    assert any(host.ledger.cause is Signature.FALSE_304 for host in hosts)


def test_hosts_that_lie_about_such_pages_are_found() -> None:
    """But for pages that show other fields at every load, and hosts whose only lies met a race or a failure."""
    hosts = [host for host in (crawled(seed, lies=True) for seed in range(200)) if host.lies_audited]
    assert len(hosts) > 80
    found = [host for host in hosts if host.ledger.false_304]
    assert len(found) > 0.8 * len(hosts)
    assert sum(host.ledger.cause is Signature.FALSE_304 for host in found) > 0.6 * len(hosts)
    assert not any(host.wronged for host in hosts)
