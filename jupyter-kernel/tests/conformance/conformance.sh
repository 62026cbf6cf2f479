#!/bin/sh
# The kernel as Jupyter sees it: jupyter_kernel_test, nbconvert, papermill, console, run, and
# JupyterLab in a browser.
#
#     jupyter-kernel/tests/conformance/conformance.sh [path of weft [words of the names of checks]]
#
# It makes a virtual environment under target/ and installs the packages there the first time; it
# needs python3 with venv, and then a package index. For the browser it needs Debian's chromium and
# chromium-driver, which it installs itself under CI=true where it may. What is missing is skipped
# and counted; with WEFT_CONFORMANCE=required it is a failure.
# WEFT_VENV names another environment.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
weft=${1:-$target/debug/weft}
case $weft in /*) ;; *) weft=$PWD/$weft ;; esac
venv=${WEFT_VENV:-$target/conformance-venv}
checks=$(grep -c '^@check' "$here/conformance.py")

skip() {
    echo "skipped all checks: $1"
    if [ "${WEFT_CONFORMANCE:-}" = required ]; then
        echo "conformance: 0 passed, $checks failed, 0 skipped"
        exit 1
    fi
    echo "conformance: 0 passed, 0 failed, $checks skipped"
    exit 0
}

[ -x "$weft" ] || skip "there is no $weft"
command -v python3 >/dev/null || skip "there is no python3"
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || skip "python3 has no venv"
# Once for each state of what is to be installed.
wanted=$(cat "$here/requirements.txt" "$root"/editors/p*/*.toml "$root"/editors/p*/*.py \
    "$root"/editors/p*/*/*.py | cksum)
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    build=$(mktemp -d)
    cp -r "$root/editors/pygments" "$root/editors/papermill" "$build"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" &&
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall \
            "$build/pygments" "$build/papermill" ||
        { rm -rf "$build"; skip "the packages cannot be installed"; }
    rm -rf "$build"
    echo "$wanted" >"$venv/installed"
fi
if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
    ! command -v chromedriver >/dev/null; then
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends \
        chromium chromium-driver fonts-dejavu-core; } >/dev/null 2>&1 ||
        echo "the browser cannot be installed"
fi
[ $# -eq 0 ] || shift
exec "$venv/bin/python" "$here/conformance.py" "$weft" "$target/conformance" "$@"
