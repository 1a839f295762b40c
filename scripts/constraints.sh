#!/usr/bin/env bash
# Writes constraints.txt (runtime and build), constraints-dev.txt (what tests and checks add) and those of the clients that
# a benchmark compares with: exact versions for every supported Python and platform, with the hash of each published file.
# Versions already pinned stay; `--upgrade` takes the newest.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$(bash scripts/find_python.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -qq install uv

compile() { # output file, then further arguments
  local output=$1
  shift
  "$work/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
    --generate-hashes --no-header --no-annotate --output-file "$output" "$@"
}

# setuptools is pinned too: the package itself is installed without build isolation, so that nothing unpinned is fetched.
printf 'setuptools>=77\n' > "$work/build.in"
compile constraints.txt pyproject.toml "$work/build.in" "$@"

without_runtime=()
while read -r name; do
  without_runtime+=(--no-emit-package "$name")
done < <(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/\1/p' constraints.txt)
compile constraints-dev.txt pyproject.toml --extra dev --constraints constraints.txt "${without_runtime[@]}" "$@"

compile benchmarks/peers/constraints.txt benchmarks/peers/requirements.txt "$@"
