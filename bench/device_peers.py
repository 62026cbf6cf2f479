"""Times on a GPU what a user would write instead of Weft, with whatever is there.

Prints a line for each program and peer, `program<TAB>peer<TAB>milliseconds`: the median of runs that are
timed by events of the device, over three sets of inputs in turn, so that the cache of the device does not
hold them. Lines without tabs say what was skipped, and why. `--small` uses small sizes. The programs and
their sizes are those of `tests/src/device_check/programs.rs`; the peers of each are in `device_peers/`.
"""

import importlib
import os
import statistics
import sys

# The peers share the memory of the device, and leave no files here.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.dont_write_bytecode = True
sys.path.insert(0, __file__.rsplit("/", 1)[0] if "/" in __file__ else ".")
SMALL = "--small" in sys.argv[1:]
RUNS = 3 if SMALL else 30
SETS = 3

skipped = []


def size(full, small):
    return small if SMALL else full


def report(program, peer, run, make, clock):
    """Runs with each of three sets of inputs in turn, which `make` makes; `clock` times one call."""
    try:
        inputs = [make() for _ in range(SETS)]
        for values in inputs:
            run(*values)
        times = [clock(run, inputs[turn % SETS]) for turn in range(RUNS)]
    except Exception as error:
        why = f"{type(error).__name__}: {error}".replace("\t", " ").splitlines()[0]
        skipped.append(f"{program} with {peer}: {why}")
        return
    print(program, peer, f"{statistics.median(times):.4f}", sep="\t", flush=True)


def main():
    for name in ["torch", "cupy", "cub", "jax", "numba"]:
        try:
            importlib.import_module(f"device_peers.with_{name}").run(size, report)
        except Exception as error:
            why = (str(error).splitlines() or [""])[0].replace("\t", " ")
            skipped.append(f"all of {name}: {type(error).__name__}: {why}")
    print(f"{len(skipped)} skipped")
    for reason in skipped:
        print(f"skipped: {reason}")


if __name__ == "__main__":
    main()
