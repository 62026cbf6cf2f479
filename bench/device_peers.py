"""Times on a GPU what a user would write instead of Weft, with whatever is there.

Prints a line for each program and peer, `program<TAB>peer<TAB>milliseconds`: the median of runs that are
timed by events of the device, over three sets of inputs in turn, so that the cache of the device does not
hold them. Lines without tabs say what was skipped, and why. `--small` uses small sizes. The programs and
their sizes are those of `tests/src/device_check/programs.rs`; the peers of each are in `device_peers/`.
Before each run the device clears a gigabyte, and reads an eighth of it: its caches hold nothing of the inputs then, nor
anything that would have to be written to memory during the run, and the host is ahead of it, so that the time is the
device's alone.

Each library runs in a process of its own, which may take `--limit` seconds (110: all five in ten minutes) and
then ends with all that it has started; one that fails or ends badly is said, and what it has printed before
counts. Names of libraries (`torch`, `cupy`, `cub`, `jax`, `numba`) choose some. `device_peers.py > FILE` and
`weft-device --peers FILE` are two calls instead of one.
"""

import importlib
import os
import signal
import statistics
import subprocess
import sys

# The peers share the memory of the device, and leave no files here.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.dont_write_bytecode = True
sys.path.insert(0, __file__.rsplit("/", 1)[0] if "/" in __file__ else ".")
SMALL = "--small" in sys.argv[1:]
RUNS = 3 if SMALL else 30
SETS = 3
# What is cleared before each run, in bytes.
FLUSH = 1 << 20 if SMALL else 1 << 30
# How many seconds a program may take with a peer: a compiler that takes longer leaves the others no time.
PATIENCE = 30
LIBRARIES = ["torch", "cupy", "cub", "jax", "numba"]


def size(full, small):
    return small if SMALL else full


def give_up(_signal, _frame):
    raise TimeoutError(f"it took more than {PATIENCE} s")


def report(program, peer, run, make, clock):
    """Runs with each of three sets of inputs in turn, which `make` makes; `clock` times one call."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        inputs = [make() for _ in range(SETS)]
        for values in inputs:
            run(*values)
        times = [clock(run, inputs[turn % SETS]) for turn in range(RUNS)]
    except Exception as error:
        why = f"{type(error).__name__}: {error}".replace("\t", " ").splitlines()[0]
        print(f"skipped: {program} with {peer}: {why}", flush=True)
        return
    finally:
        signal.alarm(0)
    print(program, peer, f"{statistics.median(times):.4f}", sep="\t", flush=True)


def alone(name):
    """Runs the peers of one library in this process."""
    try:
        importlib.import_module(f"device_peers.with_{name}").run(size, report, FLUSH)
    except Exception as error:
        why = (str(error).splitlines() or [""])[0].replace("\t", " ")
        print(f"skipped: all else of {name}: {type(error).__name__}: {why}", flush=True)


def end_group(process):
    """Ends what is left of a process and of all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def main():
    # Whoever ends this program ends the library that runs, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = [argument for argument in sys.argv[1:] if argument != "--small"]
    limit = 110
    if "--limit" in arguments:
        at = arguments.index("--limit")
        limit = float(arguments[at + 1])
        del arguments[at : at + 2]
    if arguments[:1] == ["--alone"]:
        return alone(arguments[1])
    for name in arguments or LIBRARIES:
        command = [sys.executable, __file__, "--alone", name] + ["--small"] * SMALL
        # In a group of its own: compilers and workers that it has started end with it.
        process = subprocess.Popen(command, start_new_session=True)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            print(f"skipped: the rest of {name}: it took more than {limit:.0f} s", flush=True)
            continue
        finally:
            end_group(process)
        if status != 0:
            print(f"skipped: what is left of {name}: its process ended with status {status}", flush=True)


if __name__ == "__main__":
    main()
