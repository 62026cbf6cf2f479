#!/bin/sh
# The kernel as Python's Jupyter sees it: jupyter_kernel_test, and a notebook run by nbconvert.
#
#     jupyter-kernel/tests/conformance/conformance.sh [path of weft]
#
# It needs python3 with venv and, the first time, a package index. Where those are missing it says
# how many checks it skips and succeeds; with WEFT_CONFORMANCE=required it fails instead.
# WEFT_VENV names an environment to use; it is made if it does not exist.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
weft=${1:-$root/target/release/weft}
case $weft in /*) ;; *) weft=$PWD/$weft ;; esac
venv=${WEFT_VENV:-$root/target/conformance-venv}

skip() {
    echo "skipped 2 checks: $1"
    [ "${WEFT_CONFORMANCE:-}" != required ] || exit 1
    exit 0
}

[ -x "$weft" ] || skip "there is no $weft"
command -v python3 >/dev/null || skip "there is no python3"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || skip "python3 has no venv"
"$venv/bin/python" -c 'import jupyter_kernel_test, nbconvert' 2>/dev/null ||
    "$venv/bin/pip" install -q jupyter_kernel_test jupyter_client nbconvert ipykernel ||
    skip "the packages cannot be installed"

# Nothing of the user's own is read or written.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
export JUPYTER_DATA_DIR="$state/data" JUPYTER_CONFIG_DIR="$state/config"
export JUPYTER_RUNTIME_DIR="$state/runtime" IPYTHONDIR="$state/ipython"
export WEFT_KERNEL_HISTORY="$state/history"

"$weft" jupyter install --user
"$venv/bin/python" "$here/check.py"
cd "$root/examples"
"$venv/bin/python" -m nbconvert --to notebook --execute tour.ipynb \
    --output-dir "$state" --output executed.ipynb
"$weft" jupyter uninstall --user
[ ! -e "$JUPYTER_DATA_DIR/kernels" ] || { echo "uninstall left something behind"; exit 1; }
echo "passed 2 checks"
