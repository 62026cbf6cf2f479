#!/bin/sh
# Checks Weft on a machine with a CUDA device, then times it there beside what else the machine has.
#
#   cargo build --release -p weft-tests --bin weft-device      # wherever there is Rust
#   bench/device.sh --pack path/to/weft-device weft-device.tar # what is to be carried to the device: all that follows needs
#   bench/device.sh path/to/weft-device [--small] [--no-times] # where the device is, in what was unpacked or in a copy of this folder
#
# Where there are only minutes, the steps share them; what there is no time for is skipped, and the report says it:
#
#   bench/device.sh path/to/weft-device --seconds 540
#
# Where a command may take ten minutes, and all of them thirty:
#
#   bench/device.sh path/to/weft-device --only golden          # again, with --from PLAN, if that was too short
#   bench/device.sh path/to/weft-device --only pages,examples
#   python3 bench/device_peers.py --limit 110 > peers
#   bench/device.sh path/to/weft-device --only programs,loops,compile --peers peers
#
# Unpacked, the program is `weft-device/weft-device`, beside `weft-device/bench/device.sh`. The network is not needed. WEFT_PYTHON names the Python whose packages are the peers (else python3); the
# libraries of CUDA that come as Python packages are found through it. The report goes to standard output.
set -eu

[ $# -ge 1 ] || { sed -n '2,22s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || cat "$root/COMMIT" 2>/dev/null || echo unknown)

if [ "$1" = --pack ]; then
    [ $# -eq 3 ] || { sed -n '2,22s/^# \{0,1\}//p' "$0" >&2; exit 2; }
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/weft-device"
    (cd "$root" && tar cf - README.md docs/manual docs/errors suite examples cuda/gate/plans bench) |
        tar xf - -C "$folder/weft-device"
    cp "$2" "$folder/weft-device/weft-device"
    # Without what only debuggers read it is a sixth as large.
    ! command -v strip >/dev/null || strip "$folder/weft-device/weft-device"
    echo "$commit" >"$folder/weft-device/COMMIT"
    tar cf "$3" -C "$folder" weft-device
    exit
fi

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
python=${WEFT_PYTHON:-python3}

# NVRTC, where it is a Python package: the folder of the newest that is not newer than the driver. There is one folder for
# all of CUDA 13, and one of its own in packages of CUDA 12.
nvrtc=$("$python" - 2>/dev/null <<'PYTHON' || true
import ctypes, glob, re, site, sys
newest = 1 << 30
try:
    number = ctypes.c_int()
    if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number)) == 0:
        newest = number.value // 1000
except (OSError, AttributeError):
    pass
found = []
for folder in site.getsitepackages() + [site.getusersitepackages()] + sys.path:
    for name in glob.glob(glob.escape(folder) + "/nvidia/*/lib/libnvrtc.so.*"):
        release = re.search(r"/libnvrtc\.so\.([0-9]+)", name)
        if release and int(release[1]) <= newest:
            found.append((int(release[1]), name.rsplit("/", 1)[0]))
if found:
    print(max(found)[1])
PYTHON
)
# What is found so is for Weft, not for the libraries of the peers.
WEFT_PEERS_LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
for folder in /usr/local/cuda/lib64 /usr/local/nvidia/lib64; do
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${LD_LIBRARY_PATH:+:}$folder
done
# What is looked for first is `libnvrtc.so`. Packages have none, and where there is one it may be old. So one that is the
# package's comes before all others, in a folder with what NVRTC itself looks for.
links=
if [ -n "$nvrtc" ]; then
    links=$(mktemp -d)
    trap 'rm -rf "$links"' EXIT
    for name in "$nvrtc"/libnvrtc*.so.*; do
        ln -s "$name" "$links/"
        # Of several the last.
        case ${name##*/} in libnvrtc.so.*) ln -sf "$name" "$links/libnvrtc.so" ;; esac
    done
    LD_LIBRARY_PATH=$links:$LD_LIBRARY_PATH
fi
export LD_LIBRARY_PATH WEFT_PEERS_LD_LIBRARY_PATH WEFT_ROOT="$root"

echo "commit: $commit; $(date -u +%Y-%m-%d)"
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv,noheader || true
fi
[ -n "$links" ] || exec "$program" --python "$python" "$@"
# Whoever ends this script ends the program.
"$program" --python "$python" "$@" &
trap 'kill $!' INT TERM
status=0
wait $! || status=$?
exit "$status"
