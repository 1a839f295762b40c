"""The state's schema and queries, one file each."""

from functools import cache
from importlib.resources import files


@cache
def query(name: str) -> str:
    """The text of `<name>.sql`."""
    return (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
