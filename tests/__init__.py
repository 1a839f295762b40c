"""The tests of the product."""
