"""One page's conversation with its server: the request, the hops of a redirect, the retry without a condition.

A condition is never carried to another URL: each hop is asked with its own validators or with none (RFC 9110 §13.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incremental_crawl.semantics.answers import (
    PERMANENT_REDIRECTS,
    Answer,
    Ask,
    Failure,
    FailureKind,
    NotModified,
    Purpose,
    Redirected,
    Response,
)
from incremental_crawl.semantics.block_signs import BlockSign
from incremental_crawl.semantics.cookies import FetchCookies
from incremental_crawl.semantics.outcome import Outcome, Step, classify
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.trust import TrustMode, conditions
from incremental_crawl.semantics.urls import InvalidUrl, Scope, location_url, origin_of
from incremental_crawl.semantics.validators import Validators
from incremental_crawl.stages.fingerprints import Fingerprints
from incremental_crawl.storage.rows import Observation

MAX_HOPS = 10
MOST_REPEATS = 2
"""So often a page that a strained host refused (429) is asked again in the same visit."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one page's requests came to.

    `url` is the row that the answer speaks about: the page itself, or the target where permanent redirects led.
    `hop_url` is the last hop of a temporary redirect, to which the answer's validators belong; `representation` is the
    fingerprint of the last request's headers, to which they belong as well. `sign` says why a blocked one is blocked.
    """

    url: str
    outcome: Outcome
    answer: Answer
    observations: tuple[Observation, ...]
    moved_to: str | None = None
    moved_status: int | None = None
    hop_url: str | None = None
    problem: str | None = None
    representation: str | None = None
    sign: BlockSign | None = None

    @property
    def body(self) -> bytes | None:
        """The body of a 200, None for everything else."""
        modified = self.outcome is Outcome.MODIFIED and isinstance(self.answer, Response)
        return self.answer.body if modified and isinstance(self.answer, Response) else None

    @property
    def body_sha256(self) -> str | None:
        """The digest of the body, where there is one."""
        return self.observations[-1].body_sha256


@dataclass(frozen=True, slots=True)
class Hops:
    """Where the redirects of a site may lead: pages stay in `scope`, a sitemap may be on any host.

    From https to http only to one of `origins`, those of the start URLs.
    """

    scope: Scope
    strip_params: Sequence[str] = ()
    origins: frozenset[str] = frozenset()

    def resolve(self, base: str, location: str | None, page: bool = True) -> tuple[str | None, Outcome, str]:
        """Where a redirect leads, or the outcome and the reason why it is not followed."""
        if not location:
            return None, Outcome.ERROR, "redirect without a Location"
        try:
            target = location_url(location, base, self.strip_params if page else ())
        except InvalidUrl as error:
            return None, Outcome.ERROR, f"redirect to an unusable address: {error}"
        if page and not self.scope.contains(target):
            return None, Outcome.REFUSED, f"redirect leaves the site's scope: {target}"
        if base.startswith("https:") and target.startswith("http:") and origin_of(target) not in self.origins:
            return None, Outcome.REFUSED, f"redirect from https to http: {target}"
        return target, Outcome.MODIFIED, ""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One request of a conversation, its answer, and what that meant on the way."""

    ask: Ask
    answer: Answer
    outcome: Outcome
    problem: str | None


class Talk:
    """The state of one conversation: unconditional, or with the conditions of a mode."""

    def __init__(self, hops: Hops, page: PageState, fingerprints: Fingerprints, mode: TrustMode | None) -> None:
        self._hops = hops
        self._page = page
        self._mode = mode
        self._fingerprints = fingerprints
        self._cookies = FetchCookies()
        self._asked: list[tuple[Ask, Answer]] = []
        self._seen: set[tuple[str, str | None]] = {(page.url, None)}
        self._moved_to: str | None = None
        self._moved_status: int | None = None
        self._hop: str | None = None
        self._repeats = 0
        self._outcome = Outcome.ERROR
        self._problem: str | None = None
        self._sign: BlockSign | None = None

    def begin(self, purpose: Purpose, no_cache: bool = False) -> Ask:
        """The first request: with the page's validators where it is asked conditionally, never with a cookie."""
        page = self._page
        own = Validators()
        if self._mode is not None and self._belongs(page.url, None):
            own = conditions(page.validators, self._mode)
        return Ask(page.url, purpose, etag=own.etag, last_modified=own.last_modified, no_cache=no_cache)

    def heard(self, ask: Ask, answer: Answer) -> Ask | None:
        """Take an answer in; returns the next request, or None where the conversation is over."""
        self._asked.append((ask, answer))
        self._cookies.take(ask.url, answer.headers, answer.timing.received_at)
        confirmable = self._page.held and ask.url in (self._page.url, self._page.hop_url)
        meaning = classify(ask, answer, confirmable)
        if meaning is Step.ASK_UNCONDITIONALLY:
            cookie = self._cookies.header(ask.url, answer.timing.received_at)
            return replace(ask, purpose=Purpose.RETRY, etag=None, last_modified=None, no_cache=True, cookie=cookie)
        if meaning is Step.FOLLOW and isinstance(answer, Redirected):
            return self._followed(ask, answer)
        self._outcome = meaning if isinstance(meaning, Outcome) else Outcome.ERROR
        if self._outcome is Outcome.ERROR and isinstance(answer, NotModified):
            self._problem = "304 to a request without a condition, twice"
        if isinstance(answer, Failure) and answer.kind is FailureKind.ROBOTS and len(self._asked) > 1:
            self._problem = f"blocked by robots after redirect: {answer.detail}"
        if isinstance(answer, Response) and answer.status == 429 and self._repeats < MOST_REPEATS:
            # It is about the host, not the page: once the host's pause is over, the page's turn comes again.
            self._repeats += 1
            return ask
        return None

    def cut_short(self) -> bool:
        """The next request could not be sent; whether what was heard last stands as the answer all the same."""
        if self._asked and not isinstance(self._asked[-1][1], (Redirected, NotModified)):
            return True
        self._outcome, self._problem = Outcome.RETRY_LATER, "the visit ended before the next request could be sent"
        return False

    @property
    def outcome(self) -> Outcome:
        """What the last answer meant."""
        return self._outcome

    @property
    def last(self) -> tuple[Ask, Answer]:
        """The last request and its answer."""
        return self._asked[-1]

    @property
    def problem(self) -> str | None:
        """Why it meant that, where that is not plain."""
        return self._problem

    def overrule(self, outcome: Outcome, problem: str, sign: BlockSign | None = None) -> None:
        """Let the last answer mean something else: what it holds is not the page."""
        self._outcome, self._problem, self._sign = outcome, problem, sign

    def exchanged(self) -> list[Exchanged]:
        """Every request of the conversation; those before the last carry what they meant on the way."""
        last, blocked = len(self._asked) - 1, self._outcome is Outcome.BLOCKED
        return [
            Exchanged(ask, heard, self._meaning(heard, at == last), self._problem if blocked or at == last else None)
            for at, (ask, heard) in enumerate(self._asked)
        ]

    def result(self, observations: Sequence[Observation]) -> Conversation:
        """The conversation as a value, with the observations of its requests in order."""
        last = self._asked[-1][0]
        return Conversation(
            url=self._moved_to or self._page.url,
            outcome=self._outcome,
            answer=self._asked[-1][1],
            observations=tuple(observations),
            moved_to=self._moved_to,
            moved_status=self._moved_status,
            hop_url=self._hop,
            problem=self._problem,
            representation=self._fingerprints.of(last.url, last.cookie),
            sign=self._sign,
        )

    def _belongs(self, url: str, cookie: str | None) -> bool:
        """Whether the stored validators answered such a request: another language's or variant's are never sent."""
        return self._page.representation == self._fingerprints.of(url, cookie)

    def _meaning(self, answer: Answer, last: bool) -> Outcome:
        moved = isinstance(answer, Redirected) and answer.status in PERMANENT_REDIRECTS
        if not last and moved and self._outcome is not Outcome.BLOCKED:
            return Outcome.MOVED
        if not last and isinstance(answer, NotModified):
            return Outcome.ERROR
        if not last and isinstance(answer, Response):
            return Outcome.RETRY_LATER
        return self._outcome

    def _followed(self, ask: Ask, answer: Redirected) -> Ask | None:
        target, outcome, reason = self._hops.resolve(ask.url, answer.location)
        cookie = None if target is None else self._cookies.header(target, answer.timing.received_at)
        if target is not None and ((target, cookie) in self._seen or len(self._seen) > MAX_HOPS):
            target, outcome, reason = None, Outcome.ERROR, f"redirect loop or more than {MAX_HOPS} hops, at {ask.url}"
        if target is not None and _is_home(target) and not _is_home(self._page.url):
            target, outcome, reason = None, Outcome.BLOCKED, f"redirect to the home page {target}"
        if target is None:
            self._outcome, self._problem = outcome, reason
            return None
        returns = any(target == url for url, _ in self._seen)
        self._seen.add((target, cookie))
        following = Ask(target, Purpose.REDIRECT, no_cache=ask.no_cache, cookie=cookie)
        return self._hop_to(answer, following, returns)

    def _hop_to(self, answer: Redirected, following: Ask, returns: bool) -> Ask | None:
        target = following.url
        if self._hop is None and answer.status in PERMANENT_REDIRECTS and not returns:
            self._moved_to, self._moved_status = target, answer.status
            if self._page.redirect_to == target:
                self._outcome = Outcome.MOVED
                return None
            return following
        if target == self._page.url:
            # Through a gate that sets a cookie back to where it began: nothing has moved.
            self._moved_to = self._moved_status = None
        self._hop = target
        own = Validators()
        if self._mode is not None and self._moved_to is None and target == self._page.hop_url:
            own = self._page.hop_validators if self._belongs(target, following.cookie) else own
        return replace(following, etag=own.etag, last_modified=own.last_modified)


def _is_home(url: str) -> bool:
    return url.split("//", 1)[-1].partition("/")[2] in ("", "?")
