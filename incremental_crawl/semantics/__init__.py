"""Pure rules of revalidation: no I/O and no clock; the time is always an argument."""
