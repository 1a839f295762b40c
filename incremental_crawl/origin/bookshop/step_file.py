"""The step that the demo world has reached, kept in a small file, moved forward and never back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class StepFile:
    """A file with one whole number; no file yet is step 0."""

    path: Path

    @classmethod
    def under(cls, data_dir: Path) -> Self:
        """The demo's own file below the product's data folder."""
        return cls(data_dir / "demo" / "step")

    def read(self) -> int:
        """The current step; ValueError, naming the file, where it holds anything but a whole number."""
        try:
            text = self.path.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return 0
        if not text.strip().isdecimal():
            raise ValueError(
                f"{self.path}: {text[:40]!r} is not a step; write a whole number, or delete it to begin again"
            )
        return int(text)

    def advance(self, steps: int = 1) -> int:
        """Moves `steps` forward, whole or not at all, and returns the new step; ValueError for a negative number."""
        if steps < 0:
            raise ValueError(f"the bookshop's world never goes back (asked for {steps} steps)")
        step = self.read() + steps
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_suffix(".new")
        with written.open("w", encoding="ascii") as stream:
            stream.write(f"{step}\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(written).replace(self.path)
        return step
