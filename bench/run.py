#!/usr/bin/env python3
"""Times Weft beside its peers, in alternation, and prints ratios.

    bench/run.py                         every program, 1 and 2 threads
    bench/run.py --only dotp,scan --threads 1
    bench/run.py --log                   also appends the table to bench/LOG.md

A time is the median of many runs in one process, after the first; the best of `--rounds` such
medians counts, with the processes of all competitors in alternation. `ratio` is the best peer's
time over Weft's: above 1 Weft is faster. `peak` is the most memory of the process while the program
runs, without what making the data took; the process itself is 15 MiB of it. Needs a release build of
`weft`; peers need NumPy, SciPy, Numba and JAX (see requirements.txt), and real matrices and pictures a data folder. What is absent
is skipped and counted.
"""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from programs import PROGRAMS, Program

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Name, command-line flags, text before the program.
CONFIGURATIONS = {
    "full": ":set backend cpu\n",
    "no fusion": ":set backend cpu\n:set fusion off\n",
    "no sharing": ":set backend cpu\n:set sharing off\n",
    "tier 0": ":set backend cpu\n:set tier 0\n",
}
PEERS = ["numpy", "numba", "jax"]
UNITS = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
DURATION = r"([0-9.]+) ?(ns|µs|us|ms|min|s)\b"
# Said when the data is made; the runs before it let go of memory that is kept for three runs.
MARK = "4242424242\n"
BEGIN = "1 + 1\n" * 5 + MARK
# With less memory `:bench` does not measure how fast memory is copied, which takes memory too. Times are
# measured without it: large arrays that are given back are not kept for the next where memory is scarce.
SPARING = ":set memory 255M\n"
# What `:bench` prints.
BENCH = rf"{DURATION} \(median of (\d+) runs; {DURATION} to.*?first took {DURATION}"


class Skips:
    """What could not be measured, and why; reasons are counted."""

    def __init__(self) -> None:
        self.reasons: dict[str, int] = {}

    def add(self, reason: str) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1


def main() -> int:
    options = arguments()
    skips = Skips()
    weft = options.weft or ROOT / "target" / "release" / "weft"
    if not Path(weft).exists():
        sys.exit(f"no {weft}: build it with `cargo build --release -p weft-repl`")
    peers = peer_implementations(options, skips)
    report = [machine_line(), ""]
    statistic = "fastest" if options.fastest else "median"
    for threads in options.threads:
        bandwidth = measured_bandwidth(threads)
        report += [
            f"{threads} thread(s), {options.clock} time, {statistic} runs; {bandwidth / 1e9:.1f} GB/s (memory copy, bytes read and written)",
            "",
            "| program | Weft | best peer | ratio | bandwidth | first | peak | no fusion | no sharing | tier 0 | × interp |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for name in chosen(options):
            row = measure(name, PROGRAMS[name], threads, weft, peers, bandwidth, options, skips)
            if row is not None:
                report.append(row)
                print(row, flush=True)
        report.append("")
    report += [small_cells(weft, options), ""]
    report += [f"skipped {count}: {reason}" for reason, count in sorted(skips.reasons.items())]
    text = "\n".join(report)
    print(text)
    if options.log:
        with open(HERE / "LOG.md", "a", encoding="utf-8") as log:
            log.write(f"\n## {datetime.date.today()}: {options.note or 'all programs'}\n\n{text}\n")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose names begin so, with commas")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, with commas")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each competitor")
    parser.add_argument("--weft", help="the binary; default target/release/weft")
    parser.add_argument("--peers", default=str(HERE / "peers.py"), help="the peers' programs")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="matrices and pictures")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"], help="cpu: processor seconds a run, which a busy machine disturbs less; one thread only")
    parser.add_argument("--fastest", action="store_true", help="compare the fastest runs instead of medians: for a machine that others use too")
    parser.add_argument("--against", default=",".join(PEERS), help="the peers, with commas")
    parser.add_argument("--no-peers", action="store_true", help="Weft alone")
    parser.add_argument("--only-full", action="store_true", help="no other configurations of Weft")
    parser.add_argument("--log", action="store_true", help="append the table to LOG.md")
    parser.add_argument("--note", help="the title of the entry in LOG.md")
    options = parser.parse_args()
    options.threads = [int(count) for count in options.threads.split(",")]
    if options.clock == "cpu":
        if options.fastest:
            parser.error("processor seconds are an average of many runs: none is the fastest")
        options.threads = [1]
    return options


def chosen(options: argparse.Namespace) -> list[str]:
    prefixes = [prefix for prefix in options.only.split(",") if prefix]
    return [name for name in PROGRAMS if not prefixes or any(name.startswith(p) for p in prefixes)]


def peer_implementations(options: argparse.Namespace, skips: Skips) -> list[str]:
    if options.no_peers:
        return []
    if not Path(options.peers).exists():
        skips.add("the peers' programs are not here")
        return []
    present = []
    for name in options.against.split(","):
        # SciPy is part of the programs called numpy.
        modules = "numpy, scipy" if name == "numpy" else name
        if subprocess.run([options.python, "-c", f"import {modules}"], capture_output=True).returncode == 0:
            present.append(name)
        else:
            skips.add(f"{name} is not installed")
    return present


def measure(
    name: str,
    program: Program,
    threads: int,
    weft: str,
    peers: list[str],
    bandwidth: float,
    options: argparse.Namespace,
    skips: Skips,
) -> str | None:
    """One row of the table."""
    setup = program.setup
    for path in program.files:
        file = Path(options.data) / path
        if not file.exists():
            skips.add("no data folder for real inputs")
            return None
        setup = setup.replace("FILE_", str(file))
    configurations = ["full"] if options.only_full else list(CONFIGURATIONS)
    best: dict[str, dict] = {}
    for _ in range(options.rounds):
        for configuration in configurations:
            text = f":set threads {threads}\n{CONFIGURATIONS[configuration]}{setup}"
            keep(best, configuration, run_weft(weft, text, program.expression, options))
        for peer in peers:
            keep(best, peer, run_peer(options, name, peer, threads))
    most = peak(weft, f":set threads {threads}\n{CONFIGURATIONS['full']}{setup}", program.expression)
    interpreted = None
    if program.small is not None and not options.only_full:
        text = f":set backend interp\n{program.small[0]}"
        interpreted = run_weft(weft, text, program.small[1], options)
    full = best.get("full")
    if full is None or full.get("error"):
        skips.add(f"{name}: {'no answer' if full is None else full['error']}")
        return None
    for peer in peers:
        if peer not in best:
            skips.add(f"{peer} has no such program, or failed")
    rivals = [(best[peer]["seconds"], peer) for peer in peers if peer in best]
    seconds, rival = min(rivals, default=(None, "–"))
    cells = [
        name,
        duration(full["seconds"]),
        "–" if seconds is None else f"{duration(seconds)} {rival}",
        "–" if seconds is None else f"**{seconds / full['seconds']:.2f}**",
        "–" if program.bytes is None else f"{program.bytes / full['seconds'] / bandwidth:.0%}",
        duration(full["first"]),
        "–" if most is None else f"{most / 2**20:.0f} MiB",
    ]
    for configuration in ("no fusion", "no sharing", "tier 0"):
        other = best.get(configuration)
        cells.append("–" if other is None or other.get("error") else duration(other["seconds"]))
    if interpreted is None or interpreted.get("error"):
        cells.append("–")
    else:
        cells.append(f"{interpreted['seconds'] * program.scale / full['seconds']:.0f}")
    on = full.get("on", "")
    if on != "cpu":
        cells[0] += f" (on {on})"
    return "| " + " | ".join(cells) + " |"


def keep(best: dict[str, dict], key: str, result: dict | None) -> None:
    """The better of two results stays."""
    if result is None:
        return
    known = best.get(key)
    if known is None or known.get("error") or result.get("seconds", 1e99) < known["seconds"]:
        best[key] = result


def run_weft(weft: str, setup: str, expression: str, options: argparse.Namespace) -> dict | None:
    """Seconds of a run and of the first."""
    bench = ":bench " + expression.strip().replace("\n", "\n  ") + "\n"
    setup += BEGIN
    status, output, _ = weft_process(weft, setup + bench)
    found = re.search(BENCH, output, re.S)
    output = output.split(MARK, 1)[-1]
    if status != 0 or not found:
        return {"error": output.strip().splitlines()[0][:120] if output.strip() else "no output"}
    median, unit, _, low, low_unit, first, first_unit = found.groups()
    seconds = float(median) * UNITS[unit]
    if options.fastest:
        seconds = float(low) * UNITS[low_unit]
    if options.clock == "cpu":
        seconds = processor_seconds(weft, setup + bench + bench)
        if seconds is None:
            return {"error": "no processor seconds"}
    on = re.search(r"\non (\w+)", output)
    return {
        "seconds": seconds,
        "first": float(first) * UNITS[first_unit],
        "on": on.group(1) if on else "",
    }


def peak(weft: str, setup: str, expression: str) -> int | None:
    """The most bytes of memory of the process while a program runs."""
    bench = ":bench " + expression.strip().replace("\n", "\n  ") + "\n"
    status, output, usage = weft_process(weft, setup + BEGIN + SPARING + bench)
    if status != 0 or not re.search(BENCH, output, re.S):
        # It needs more memory than that.
        status, output, usage = weft_process(weft, setup + BEGIN + bench)
    return usage.ru_maxrss * 1024 if status == 0 else None


def weft_process(weft: str, text: str) -> tuple[int, str, object]:
    """Runs a script: the exit code, what it prints, and what it used; the peak of memory since MARK."""
    with tempfile.NamedTemporaryFile("w", suffix=".weft", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        process = subprocess.Popen(
            [str(weft), file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT
        )
        output = ""
        for line in process.stdout:
            output += line.decode()
            if line.decode() == MARK:
                forget_peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, usage


def forget_peak(process: int) -> None:
    """Has the system count the peak of a process's memory from now on, where it can."""
    try:
        Path(f"/proc/{process}/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        pass


def processor_seconds(weft: str, text: str) -> float | None:
    """The processor seconds of a run, of the second of two `:bench`es: the first has compiled all."""
    with tempfile.NamedTemporaryFile("w", suffix=".weft", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        process = subprocess.Popen([str(weft), file.name], stdout=subprocess.PIPE, cwd=ROOT)
        ticks = []
        for line in process.stdout:
            runs = re.search(r"median of (\d+) runs", line.decode())
            if runs:
                fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                ticks.append((int(fields[11]) + int(fields[12]), int(runs.group(1)) + 1))
        process.wait()
    if len(ticks) != 2:
        return None
    spent = (ticks[1][0] - ticks[0][0]) / os.sysconf("SC_CLK_TCK") / ticks[1][1]
    # A clock of ticks may not have moved.
    return spent if spent > 0 else None


def run_peer(options: argparse.Namespace, name: str, peer: str, threads: int) -> dict | None:
    command = [options.python, options.peers, "--bench", name, "--impl", peer]
    command += ["--threads", str(threads), "--repeat", "7", "--max-seconds", "4"]
    command += ["--data", options.data, "--clock", options.clock]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return None
    found = json.loads(lines[-1])
    seconds = found["min_s" if options.fastest else "median_s"]
    return {"seconds": seconds, "first": found["first_s"]}


# Copies memory on huge pages for half a second at a word of its parent, piece by piece, and says how
# fast the fastest piece was: where others use the machine, few pieces are copied without a break.
COPY = """
import mmap, sys, time
size = 256 << 20
a, b = mmap.mmap(-1, size), mmap.mmap(-1, size)
for m in (a, b):
    if hasattr(mmap, "MADV_HUGEPAGE"):
        m.madvise(mmap.MADV_HUGEPAGE)
    m.write(bytes(size))
to, source = memoryview(b), memoryview(a)
print("ready", flush=True)
sys.stdin.readline()
end, best, piece = time.perf_counter() + 0.5, 1e9, 8 << 20
while time.perf_counter() < end:
    for at in range(0, size, piece):
        begin = time.perf_counter()
        to[at : at + piece] = source[at : at + piece]
        best = min(best, time.perf_counter() - begin)
print(2 * piece / best)
"""


def measured_bandwidth(threads: int) -> float:
    """Bytes read and written in a second by that many processes that copy memory at the same time."""
    copies = [
        subprocess.Popen([sys.executable, "-c", COPY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(threads)
    ]
    for copy in copies:
        copy.stdout.readline()
    for copy in copies:
        copy.stdin.write(b"\n")
        copy.stdin.flush()
    return sum(float(copy.communicate()[0]) for copy in copies)


def small_cells(weft: str, options: argparse.Namespace) -> str:
    """What a small cell costs when it is new and when it is known."""
    lines = ["| small cell | first | again |", "| --- | --- | --- |"]
    options = argparse.Namespace(**{**vars(options), "clock": "wall"})
    for setup, expression in [
        ("", "1 + 1"),
        ("", "sum (iota 10)"),
        ("xs = f64 (iota 1000)\n", "sum (xs * xs)"),
        ("xs = f64 (iota 1000)\n", "sort (reverse xs)"),
        (PROGRAMS["blackscholes"].small[0].replace("20000", "100"), "unzip (zipWith3 price s x t)"),
    ]:
        result = run_weft(weft, setup, expression, options)
        if result is not None and not result.get("error"):
            lines.append(f"| `{expression}` | {duration(result['first'])} | {duration(result['seconds'])} |")
    processes = []
    for _ in range(9):
        begin = time.perf_counter()
        subprocess.run([str(weft), "-e", "1 + 1"], capture_output=True)
        processes.append(time.perf_counter() - begin)
    first, again = duration(processes[0]), duration(min(processes))
    lines.append(f"| `weft -e '1 + 1'`, the process | {first} | {again} |")
    return "\n".join(lines)


def machine_line() -> str:
    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = re.search(r"model name\s*: (.*)", info).group(1)
    except (OSError, AttributeError):
        pass
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} processors, {platform.system()}; load {load:.1f} at the start"


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


if __name__ == "__main__":
    sys.exit(main())
