"""The behaviours, a file per kind."""
