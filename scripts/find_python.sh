#!/usr/bin/env bash
# Prints the first interpreter that is Python 3.11+ and can make virtual environments; PYTHON=… is the only candidate if set.
set -u

usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
  if "$candidate" -c "$usable" 2>/dev/null; then
    echo "$candidate"
    exit 0
  fi
done
echo "no usable Python among: ${PYTHON:-python3, python3.11 to python3.14, python}" >&2
echo "needed: Python 3.11 or newer with venv (Debian and Ubuntu: apt install python3 python3-venv); PYTHON=/path/to/python names another" >&2
exit 1
