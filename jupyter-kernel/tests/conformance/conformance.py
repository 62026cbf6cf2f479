"""Runs the checks of this folder one after the other and counts them.

    conformance.py PATH-OF-WEFT FOLDER-FOR-RESULTS [WORD…]

With words, only the checks whose names have one of them, besides the first and the last.
Run it through conformance.sh, which makes the environment.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ROOT / "examples"
WEFT = sys.argv[1]
RESULTS = pathlib.Path(sys.argv[2])
CHECKS = []


class Skip(Exception):
    """The machine lacks what a check needs."""


def check(function):
    """Adds a check; it fails by an exception."""
    CHECKS.append(function)
    return function


def run(*command, patience=180, cwd=None, text="", ok=True):
    """Runs a program of the environment; its output and errors as one text."""
    program = [sys.executable, "-m", *command[1:]] if command[0] == "python -m" else list(command)
    # In a group of its own, so that nothing that it starts outlives it.
    child = subprocess.Popen(
        program, cwd=cwd, text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    try:
        said, _ = child.communicate(text, timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
        raise AssertionError(f"{' '.join(map(str, command))} took {patience} s:\n{said[-4000:]}")
    if ok and child.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} failed:\n{said[-4000:]}")
    return said


def jupyter(*command, **options):
    return run("python -m", "jupyter", *command, **options)


@check
def install_and_doctor(folder):
    said = run(WEFT, "jupyter", "install", "--user")
    assert said.count("installed ") == 2, said
    said = run(WEFT, "jupyter", "doctor")
    assert "all is well" in said and "FAILED" not in said, said
    assert "JupyterLab colours its cells" in said, said
    assert "weft" in jupyter("kernelspec", "list")
    listed = jupyter("labextension", "list")
    assert re.search(r"weft-jupyterlab v\S+ .*enabled.*OK", listed), listed


@check
def jupyter_kernel_test(folder):
    said = run(sys.executable, str(HERE / "kernel_test.py"), patience=200)
    count = int(re.search(r"Ran (\d+) tests", said).group(1))
    assert count >= 13 and "skipped" not in said, said


@check
def pygments(folder):
    tests = ROOT / "editors/pygments/tests"
    run("python -m", "unittest", "discover", "-s", str(tests), cwd=folder)


def outputs(notebook):
    """What each code cell that has no tag `varies` puts out, as text."""
    found = []
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] != "code" or "varies" in cell["metadata"].get("tags", []):
            continue
        shown = []
        may_fail = "raises-exception" in cell["metadata"].get("tags", [])
        for output in cell["outputs"]:
            if output.get("metadata", {}).get("weft", {}).get("varies"):
                continue
            assert output["output_type"] != "error" or may_fail, "".join(output["traceback"])
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            text = "".join(text or output.get("evalue", ""))
            kind = output.get("name") or output["output_type"]
            if output["output_type"] == "stream" and shown and shown[-1][0] == kind:
                # Where a stream is cut depends on the time that passes.
                shown[-1] = (kind, shown[-1][1] + text, [])
            else:
                shown.append((kind, text, sorted(output.get("data", {}))))
        found.append(("".join(cell["source"]), shown))
    return found


@check
def nbconvert_executes_every_notebook(folder):
    notebooks = sorted(EXAMPLES.glob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        jupyter(
            "nbconvert", "--to", "notebook", "--execute", notebook.name,
            "--output-dir", str(folder), "--output", notebook.name, cwd=EXAMPLES, patience=200,
        )
        assert any(kept for _, kept in outputs(notebook)), f"{notebook.name} keeps no outputs"
        for found, kept in zip(outputs(folder / notebook.name), outputs(notebook), strict=True):
            assert found == kept, f"{notebook.name}:\n{found}\nis not what is kept:\n{kept}"


@check
def nbconvert_colours_cells(folder):
    jupyter("nbconvert", "--to", "html", str(EXAMPLES / "tour.ipynb"), "--output-dir", str(folder))
    page = (folder / "tour.html").read_text()
    assert '<span class="kd">def</span>' in page, "the cells are not coloured"


@check
def papermill_passes_parameters(folder):
    values = ["-p", "count", "7", "-p", "name", 'a "text"\\', "-p", "factor", "1e-3"]
    out = folder / "out.ipynb"
    run("python -m", "papermill", str(HERE / "parameters.ipynb"), str(out), *values,
        "-y", "list: [1, 2, 3]", "-y", "point: {x: 1.5, y: -2.0}", patience=60)
    text = [shown for _, shown in outputs(out)]
    expect = ['(7, 0.001, 6, -2.0)', 'a "text"\\']
    assert [shown[-1][1] for shown in text[-2:]] == expect, text
    said = run("python -m", "papermill", "--help-notebook", str(HERE / "parameters.ipynb"))
    assert "how many" in said, said


@check
def jupyter_console(folder):
    # Nobody draws the prompt: a plain pipe as the terminal.
    said = jupyter("console", "--kernel", "weft", "--simple-prompt", patience=60,
                   text="xs = iota 10\nsum xs\nfirst (iota 0)\n6 * 7\n:quit\n")
    for expect in ["xs : [10]i64", "Out[2]: 45", "E0608", "Out[4]: 42"]:
        assert expect in said, f"{expect} is not in\n{said}"


@check
def jupyter_run(folder):
    program = folder / "program.weft"
    program.write_text("xs = iota 10\nsum xs\n")
    said = jupyter("run", "--kernel", "weft", str(program), patience=60)
    assert "45" in said, said


@check
def jupyterlab_in_a_browser(folder):
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        raise Skip("there is no chromium with its driver")
    RESULTS.mkdir(parents=True, exist_ok=True)
    said = run(sys.executable, str(HERE / "lab.py"), str(EXAMPLES), str(RESULTS), patience=600)
    print(said.strip())


@check
def uninstall_leaves_nothing(folder):
    run(WEFT, "jupyter", "uninstall", "--user")
    left = pathlib.Path(os.environ["JUPYTER_DATA_DIR"])
    for name in ["kernels", "labextensions"]:
        assert not (left / name).exists(), f"{left / name} is still there"


def main():
    passed, failed, skipped = 0, 0, 0
    with tempfile.TemporaryDirectory() as state:
        # Nothing of the user's own is read or written.
        for name in ["DATA", "CONFIG", "RUNTIME"]:
            os.environ[f"JUPYTER_{name}_DIR"] = f"{state}/{name.lower()}"
        os.environ["IPYTHONDIR"] = f"{state}/ipython"
        os.environ["WEFT_KERNEL_HISTORY"] = f"{state}/history"
        os.environ["XDG_CACHE_HOME"] = f"{state}/cache"
        os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
        os.environ["JUPYTERLAB_SETTINGS_DIR"] = f"{state}/settings"
        os.environ["JUPYTERLAB_WORKSPACES_DIR"] = f"{state}/workspaces"
        words = sys.argv[3:]
        for function in CHECKS:
            is_frame = function in (CHECKS[0], CHECKS[-1])
            if words and not is_frame and not any(word in function.__name__ for word in words):
                continue
            name = function.__name__.replace("_", " ")
            started = time.monotonic()
            folder = pathlib.Path(state) / function.__name__
            folder.mkdir()
            try:
                function(folder)
                verdict = "ok"
                passed += 1
            except Skip as reason:
                verdict = f"skipped: {reason}"
                skipped += 1
            except Exception as problem:
                verdict = f"FAILED: {problem}"
                failed += 1
            print(f"{name} ({time.monotonic() - started:.1f} s) ... {verdict}", flush=True)
    print(f"conformance: {passed} passed, {failed} failed, {skipped} skipped")
    required = os.environ.get("WEFT_CONFORMANCE") == "required"
    return 1 if failed or (skipped and required) else 0


if __name__ == "__main__":
    sys.exit(main())
