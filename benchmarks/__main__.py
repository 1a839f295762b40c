"""`python -m benchmarks [NAME [ARGUMENT…]]`: runs the measurement of that name, or says which there are."""

import importlib
import pkgutil
import sys
from pathlib import Path


def names() -> list[str]:
    """The names of the measurements: the modules of this folder."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if not module.ispkg and not module.name.startswith("_"))


def main(arguments: list[str]) -> int:
    """Runs `arguments[0]` with the rest; returns the exit status, 2 where no measurement has that name."""
    if not arguments:
        for name in names():
            summary = (importlib.import_module(f"benchmarks.{name}").__doc__ or "").strip().partition("\n")[0]
            print(f'  make bench ARGS="{name}"  {summary}')
        return 0
    name, *rest = arguments
    if name not in names():
        print(f"no benchmark {name!r}; there are: {', '.join(names()) or 'none yet'}", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"benchmarks.{name}").main(rest) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
