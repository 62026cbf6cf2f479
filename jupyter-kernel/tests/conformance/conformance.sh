#!/bin/sh
# The kernel as Jupyter sees it: jupyter_kernel_test, nbconvert, papermill, console, run, and
# JupyterLab in a browser.
#
#     jupyter-kernel/tests/conformance/conformance.sh [path of weft [words of the names of checks]]
#
# It installs what it needs: Python packages into a virtual environment under target/, the first time;
# and, where it may do so without asking (as root, with apt-get), Debian's chromium and python3-venv.
# What cannot be had is skipped and counted. WEFT_CONFORMANCE=off skips everything, =required makes
# what is skipped a failure. WEFT_VENV names another environment.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
weft=${1:-$target/debug/weft}
case $weft in /*) ;; *) weft=$PWD/$weft ;; esac
venv=${WEFT_VENV:-$target/conformance-venv}
checks=$(grep -c '^@check' "$here/conformance.py")

# Ends the run: nothing can be checked, because of $1.
skip() {
    echo "skipped all checks: $1"
    if [ "${WEFT_CONFORMANCE:-}" = required ]; then
        echo "conformance: 0 passed, $checks failed, 0 skipped"
        exit 1
    fi
    echo "conformance: 0 passed, 0 failed, $checks skipped"
    exit 0
}

# Installs Debian's packages, if that needs nobody's leave; else it fails.
install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    options="-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60"
    export DEBIAN_FRONTEND=noninteractive
    # Each word of the options is one.
    # shellcheck disable=SC2086
    { timeout 100 apt-get update $options &&
        timeout 300 apt-get install $options -y --no-install-recommends "$@"; } >/dev/null 2>&1
}

# The environment with what the checks need; each state of what is to be installed, once.
environment() {
    [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" >/dev/null 2>&1 ||
        { install_packages python3-venv && python3 -m venv "$venv" >/dev/null 2>&1; } ||
        skip "python3 has no venv"
    wanted=$(cat "$here/requirements.txt" "$root"/editors/p*/*.toml "$root"/editors/p*/*.py \
        "$root"/editors/p*/*/*.py | cksum)
    [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ] || return 0
    # Not in the tree: building leaves folders behind.
    build=$(mktemp -d)
    cp -r "$root/editors/pygments" "$root/editors/papermill" "$build"
    pip="timeout 400 $venv/bin/pip install -q --disable-pip-version-check --retries 2 --timeout 20"
    $pip -r "$here/requirements.txt" &&
        $pip --no-deps --force-reinstall "$build/pygments" "$build/papermill" ||
        { rm -rf "$build"; skip "the packages cannot be installed"; }
    rm -rf "$build"
    echo "$wanted" >"$venv/installed"
}

echo "== the kernel as Jupyter sees it"
[ "${WEFT_CONFORMANCE:-}" != off ] || skip "WEFT_CONFORMANCE=off"
[ -x "$weft" ] || skip "there is no $weft"
command -v python3 >/dev/null || skip "there is no python3"
environment
{ command -v chromium && command -v chromedriver; } >/dev/null ||
    install_packages chromium chromium-driver fonts-dejavu-core || true
[ $# -eq 0 ] || shift
exec "$venv/bin/python" "$here/conformance.py" "$weft" "$target/conformance" "$@"
