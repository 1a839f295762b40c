"""What a person may ask of a new visit in the launchpad or on the command line."""

from __future__ import annotations

import dagster as dg
from pydantic import Field

from incremental_crawl.storage.visits import VisitOptions


class VisitConfig(dg.Config):
    """Options of the visit that a run opens; a visit that is under way keeps the ones it was opened with."""

    every_page: bool = Field(default=False, description="Every page is due.")
    only_urls: list[str] = Field(default=[], description="Ask these URLs and no others.")
    page_limit: int | None = Field(default=None, description="Ask at most so many pages.")

    def options(self) -> VisitOptions:
        """The options as the stages take them."""
        return VisitOptions(self.every_page, tuple(self.only_urls), self.page_limit)
