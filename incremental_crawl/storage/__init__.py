"""State, spool and datasets; the only importer of duckdb."""
