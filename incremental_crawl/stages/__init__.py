"""One module per stage; stages do not know Dagster and meet only in tables."""
