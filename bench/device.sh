#!/bin/sh
# Checks Weft on a machine with a CUDA device, then times it there beside what else the machine has.
#
#   cargo build --release -p weft-tests --bin weft-device      # wherever there is Rust
#   bench/device.sh --pack path/to/weft-device weft-device.tar # what is to be carried to the device: all that follows needs
#   bench/device.sh path/to/weft-device [--small] [--no-times] # where the device is, in what was unpacked or in a copy of this folder
#
# Unpacked, the program is `weft-device/weft-device`, beside `weft-device/bench/device.sh`. The network is not needed. WEFT_PYTHON names the Python whose packages are the peers (else python3); the
# libraries of CUDA that come as Python packages are found through it. The report goes to standard output.
set -eu

[ $# -ge 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || cat "$root/COMMIT" 2>/dev/null || echo unknown)

if [ "$1" = --pack ]; then
    [ $# -eq 3 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
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

# NVRTC, where it is a Python package: one folder for all of CUDA 13, or one of its own.
packages=$("$python" - 2>/dev/null <<'PYTHON' || true
import glob, site, sys
folders = site.getsitepackages() + [site.getusersitepackages()] + sys.path
found = []
for folder in folders:
    for name in sorted(glob.glob(folder + "/nvidia/*/lib/libnvrtc.so*")):
        found.append(name.rsplit("/", 1)[0])
print(":".join(dict.fromkeys(found)))
PYTHON
)
# What is found so is for Weft, not for the libraries of the peers.
WEFT_PEERS_LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
for folder in "$packages" /usr/local/cuda/lib64 /usr/local/nvidia/lib64; do
    [ -z "$folder" ] || LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${LD_LIBRARY_PATH:+:}$folder
done
export LD_LIBRARY_PATH WEFT_PEERS_LD_LIBRARY_PATH WEFT_ROOT="$root"

echo "commit: $commit; $(date -u +%Y-%m-%d)"
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv,noheader || true
fi
exec "$program" --python "$python" "$@"
