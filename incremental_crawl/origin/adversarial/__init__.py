"""The adversarial origin: named server behaviours, each with its right answer and who says so."""

from incremental_crawl.origin.adversarial.adversarial_origin import DEFAULT_HOST, AdversarialOrigin
from incremental_crawl.origin.adversarial.behaviour import Behaviour, Kind
from incremental_crawl.origin.adversarial.catalogue import BY_NAME, CATALOGUE
from incremental_crawl.origin.adversarial.expectations import ROUNDS
from incremental_crawl.origin.adversarial.judge import NOTHING, Kept, judge
from incremental_crawl.origin.adversarial.logged import AdversarialLog, Logged
from incremental_crawl.origin.adversarial.trial import Client, Verdict, trial, verdicts

__all__ = [
    "BY_NAME",
    "CATALOGUE",
    "DEFAULT_HOST",
    "NOTHING",
    "ROUNDS",
    "AdversarialLog",
    "AdversarialOrigin",
    "Behaviour",
    "Client",
    "Kept",
    "Kind",
    "Logged",
    "Verdict",
    "judge",
    "trial",
    "verdicts",
]
