"""The environment that the peers are installed into: `.venv-peers` beside the project's own, from `constraints.txt`."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
_FOLDER = ROOT / ".venv-peers"
_STAMP = _FOLDER / ".made-of"


def versions(constraints: str) -> dict[str, str]:
    """Name → version of every package that the text pins."""
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", constraints, re.MULTILINE))


def interpreter() -> Path:
    """The environment's Python; makes the environment where it is missing or made of other versions.

    Raises `subprocess.CalledProcessError` where a package cannot be installed; pip has said why then.
    """
    python = _FOLDER / "bin" / "python"
    made_of = hashlib.sha256(CONSTRAINTS.read_bytes() + sys.version.encode()).hexdigest()
    if not _STAMP.exists() or _STAMP.read_text(encoding="utf-8") != made_of:
        print(f"Installing the other clients into {_FOLDER.name} (once) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(_FOLDER)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]
        install = [*pip, "install", "--no-deps", "--require-hashes", "-r", str(CONSTRAINTS)]
        subprocess.run(install, check=True, stdout=sys.stderr)
        _STAMP.write_text(made_of, encoding="utf-8")
    return python
