#!/bin/sh
# Prints the path of a Python that has what the gate needs (requirements.txt), and installs it the first
# time, into a virtual environment under target/. Exits with 3 and a reason where that cannot be done.
# WEFT_GATE=off does not try; WEFT_PYTHON names another Python.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
venv=$target/gate-venv

give_up() {
    echo "$1" >&2
    exit 3
}

[ "${WEFT_GATE:-}" != off ] || give_up "WEFT_GATE=off"
if [ -n "${WEFT_PYTHON:-}" ]; then
    echo "$WEFT_PYTHON"
    exit 0
fi
[ "$(uname -s)" = Linux ] || give_up "the compiler of the device is for Linux"
command -v python3 >/dev/null || give_up "there is no python3"
wanted=$(cksum <"$here/requirements.txt")
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    [ -x "$venv/bin/pip" ] || python3 -m venv --clear "$venv" >/dev/null 2>&1 || give_up "python3 has no venv"
    timeout 300 "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 20 \
        -r "$here/requirements.txt" >&2 || give_up "the wheels of requirements.txt cannot be installed"
    echo "$wanted" >"$venv/installed"
fi
echo "$venv/bin/python"
