"""Measurements, one module each: `main(arguments)` runs it, its docstring's first line says what it measures."""
