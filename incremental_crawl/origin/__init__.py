"""Servers to crawl: the demo bookshop."""
