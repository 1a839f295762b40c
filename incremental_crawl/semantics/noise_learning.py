"""Learning a noise mask from two loads of the same page at the same moment.

Only what differs within the pair is noise. Equal lines are masked in two cases alone: they are chance matches inside
a rotating list (by element path or by container), or at most two of them stand between changing lines of their path.
"""

from __future__ import annotations

from collections.abc import Sequence

from incremental_crawl.semantics.noise_gaps import gap_rules
from incremental_crawl.semantics.noise_mask import Mask
from incremental_crawl.semantics.noise_paths import path_rules

_ROUNDS = 6


def learn(
    first_lines: Sequence[str],
    first_paths: Sequence[int],
    second_lines: Sequence[str],
    second_paths: Sequence[int],
    known: Mask | None = None,
) -> Mask:
    """The mask under which both loads are the same, united with what is `known` of the page.

    Pass two loads of one moment, never lines of different visits: the difference between visits is what the mask must
    not hide. Pass the mask the page already has as `known`, so that the new rules build on it. A page that resists
    six rounds gets the mask reached by then. Raises ValueError where lines and paths differ in length.
    """
    mask = known or Mask()
    for number in range(_ROUNDS):
        first, second = mask.places(first_lines, first_paths), mask.places(second_lines, second_paths)
        if [line for line, _ in first] == [line for line, _ in second]:
            return mask
        rules = path_rules(first, second) if number == 0 else Mask()
        mask = mask.union(gap_rules(first, second, mask.unordered) if rules.is_empty else rules)
    return mask
