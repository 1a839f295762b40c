"""Typed, frozen settings, validated once, with units."""
