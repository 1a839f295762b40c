"""Stage reports as Dagster metadata: numbers are plotted over time, sentences and tables are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import dagster as dg

from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import Report


def materialized(*reports: Report) -> dg.MaterializeResult[None]:
    """The result of an asset; the numbers of several sites are added up."""
    tables = {name: dg.MetadataValue.md(text) for report in reports for name, text in report.tables.items()}
    return dg.MaterializeResult(metadata={**_numbers(reports), **_notes(reports), **tables})


def checked(report: GateReport, severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR) -> dg.AssetCheckResult:
    """The result of a check; only gates are errors."""
    return dg.AssetCheckResult(
        passed=report.passed, severity=severity, description=report.sentence, metadata=dict(report.numbers)
    )


def combined(reports: Sequence[GateReport]) -> GateReport:
    """Several sites' gates as one: passed where all passed."""
    if len(reports) == 1:
        return reports[0]
    sentences = [report.sentence for report in reports if not report.passed] or ["within the limits"]
    return GateReport(all(report.passed for report in reports), " ".join(sentences), {})


def _numbers(reports: Iterable[Report]) -> dict[str, int | float]:
    numbers: dict[str, int | float] = {}
    for report in reports:
        for name, number in report.numbers.items():
            numbers[name] = numbers.get(name, 0) + number
    return numbers


def _notes(reports: Iterable[Report]) -> dict[str, str]:
    """Sentences; the visit's number is one of them, so that nobody plots it."""
    notes: dict[str, str] = {}
    for report in reports:
        notes.update(report.notes)
        if report.visit is not None:
            notes["visit"] = str(report.visit)
    return notes
