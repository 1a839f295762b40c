"""The demo: the bookshop beside the product, for `make crawl` and `make dev`."""
