"""Bytes to record: decoding, fields, canonical lines, main text; no I/O."""
