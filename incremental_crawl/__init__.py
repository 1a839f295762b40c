"""Incremental crawling and change detection: keep a scraped dataset fresh and say exactly what changed."""

__version__ = "0.1.0"
