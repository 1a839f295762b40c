"""Where everything of one site lies under the data root."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

EMPTY_DAY = date(1970, 1, 1)
"""The partition of the zero-row files that carry each dataset's schema."""


class Dataset(StrEnum):
    """The datasets that grow by one file per visit."""

    BODY_SNAPSHOTS = "body_snapshots"
    PAGE_RECORDS = "page_records"
    PAGE_DIFFS = "page_diffs"
    TOMBSTONES = "tombstones"
    OBSERVATIONS = "observations"


@dataclass(frozen=True, slots=True)
class SiteLayout:
    """Paths of one site; `root` is the data root."""

    root: Path
    site: str

    @property
    def state_file(self) -> Path:
        """The product's own state."""
        return self.root / "state" / f"{self.site}.duckdb"

    @property
    def lock_file(self) -> Path:
        """The operating-system lock of the site."""
        return self.root / "state" / f"{self.site}.lock"

    @property
    def spool(self) -> Path:
        """Bodies of visits that are not published yet; outside the datasets."""
        return self.root / "spool" / self.site

    def dataset(self, dataset: Dataset) -> Path:
        """The site's folder of a dataset."""
        return self.root / dataset / f"site={self.site}"

    def visit_file(self, dataset: Dataset, day: date, visit: int) -> Path:
        """The one file that a visit writes to a dataset."""
        return self.dataset(dataset) / f"day={day.isoformat()}" / f"visit-{visit}.parquet"

    def empty_file(self, dataset: Dataset) -> Path:
        """The dataset's zero-row file."""
        return self.visit_file(dataset, EMPTY_DAY, 0)

    @property
    def pages_file(self) -> Path:
        """The published copy of the state's pages."""
        return self.root / "pages" / f"site={self.site}" / "pages.parquet"

    @property
    def hosts_file(self) -> Path:
        """The published copy of the state's hosts."""
        return self.root / "hosts" / f"site={self.site}" / "hosts.parquet"

    @property
    def records(self) -> Path:
        """The folder of the current records, one subfolder per page type."""
        return self.root / "records" / f"site={self.site}"

    def records_file(self, page_type: str) -> Path:
        """The current records of one page type."""
        return self.records / f"type={page_type}" / "records.parquet"
