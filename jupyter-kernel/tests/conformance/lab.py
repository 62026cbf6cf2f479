"""JupyterLab in headless Chromium: what a user does with a notebook, and pictures of it.

    lab.py FOLDER-OF-EXAMPLES FOLDER-FOR-PICTURES
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import jupyter_core.paths
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service

PATIENCE = 150
# The text of the menu of completions.
MENU = ("const menu = document.querySelector('.jp-Completer:not(.lm-mod-hidden)');"
        "return menu && menu.innerText;")


def wait(what, condition, patience=PATIENCE):
    """Waits for something to hold; its value."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {patience} s: {what}")


class Lab:
    """A server with a browser before it."""

    def __init__(self, folder, pictures):
        self.pictures = pictures
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.log = open(pictures / "jupyterlab.log", "w")
        # No question about news in the pictures.
        config = pathlib.Path(jupyter_core.paths.jupyter_config_dir()) / "labconfig"
        config.mkdir(parents=True, exist_ok=True)
        announcements = "@jupyterlab/apputils-extension:announcements"
        text = json.dumps({"disabledExtensions": {announcements: True}})
        (config / "page_config.json").write_text(text)
        # All cells are in the page, also those out of sight.
        settings = pathlib.Path(os.environ["JUPYTERLAB_SETTINGS_DIR"])
        settings = settings / "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps({"windowingMode": "none"}))
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
             f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=",
             "--LabApp.expose_app_in_browser=True",
             "--ServerApp.root_dir", str(folder)],
            stdout=self.log, stderr=subprocess.STDOUT,
        )
        self.address = f"http://127.0.0.1:{port}"
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for option in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                       "--window-size=1280,1000"]:
            options.add_argument(option)
        wait("the server answers", self.is_up)
        service = Service(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(options=options, service=service)
        self.browser.set_script_timeout(PATIENCE)

    def is_up(self):
        try:
            return urllib.request.urlopen(f"{self.address}/api", timeout=1).status == 200
        except OSError:
            return False

    def close(self):
        if hasattr(self, "browser"):
            self.browser.quit()
        self.server.terminate()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
        self.log.close()

    def script(self, text, *arguments):
        """Runs JavaScript in which `app` is the application and `panel` the notebook."""
        start = ("const app = window.jupyterapp; const panel = app && app.shell.currentWidget;"
                 "const notebook = panel && panel.content;")
        return self.browser.execute_script(start + text, *arguments)

    def command(self, name, arguments=None):
        """Starts a command of the application, without waiting for its end."""
        self.script("app.commands.execute(arguments[0], arguments[1] || {}).catch(() => {});",
                    name, arguments)

    def picture(self, name):
        self.browser.save_screenshot(str(self.pictures / f"{name}.png"))

    def pages(self, name):
        """Pictures of the whole notebook."""
        area = "const area = panel.node.querySelector('.jp-WindowedPanel-outer');"
        height, whole = self.script(area + "return [area.clientHeight, area.scrollHeight];")
        for page, top in enumerate(range(0, whole, height), 1):
            self.script(area + "area.scrollTop = arguments[0];", top)
            time.sleep(0.2)
            self.picture(f"{name}-{page}")

    def open(self, name):
        self.browser.get(f"{self.address}/lab/tree/{name}?reset")
        wait("the application", lambda: self.script("return !!app"))
        wait("the notebook", lambda: self.script(
            "return !!(panel && panel.context && panel.context.isReady && panel.sessionContext"
            " && panel.sessionContext.session && panel.sessionContext.session.kernel"
            " && panel.sessionContext.session.kernel.status === 'idle')"))

    def clear(self):
        """Forgets the outputs that the file keeps, so that those of this run are seen."""
        self.command("notebook:clear-all-cell-outputs")
        wait("nothing has run", lambda: all(count is None for count in self.counts()))

    def seen(self):
        """How many errors, tables and images are to be seen."""
        return self.script(
            "const all = s => panel.node.querySelectorAll('.jp-OutputArea-output' + s).length;"
            "const outputs = notebook.widgets.flatMap(c => c.model.outputs?.toJSON() || []);"
            "return {errors: outputs.filter(o => o.output_type === 'error').length,"
            " tables: all(' table'), images: all(' img')}")

    def is_idle(self):
        return self.script("const kernel = panel.sessionContext.session.kernel;"
                           "return kernel && kernel.status === 'idle'")

    def counts(self):
        return self.script(
            "return notebook.widgets.filter(c => c.model.type === 'code')"
            ".map(c => c.model.executionCount)")

    def all_have_run(self):
        return self.is_idle() and all(count is not None for count in self.counts())

    def add_cell(self, text):
        """Adds a cell at the end and makes it the active one."""
        self.script("notebook.activeCellIndex = notebook.widgets.length - 1;")
        self.browser.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.commands.execute('notebook:insert-cell-below').then(done, done)")
        self.script(
            "const cell = notebook.activeCell; cell.model.sharedModel.setSource(arguments[0]);"
            "notebook.mode = 'edit'; cell.editor.focus();"
            "cell.editor.setCursorPosition({line: cell.editor.lineCount - 1,"
            " column: arguments[0].split('\\n').pop().length});", text)

    def output(self):
        """What the active cell puts out, as the user reads it."""
        return self.script("return notebook.activeCell.node.querySelector('.jp-OutputArea')"
                           ".innerText")

    def run_cell(self, text):
        """Runs a cell at the end and waits for it; its output."""
        self.add_cell(text)
        self.command("notebook:run-cell")
        wait("the cell has run", lambda: self.is_idle() and self.script(
            "return notebook.activeCell.model.executionCount !== null"
            " && notebook.activeCell.model.executionState !== 'running'"))
        return self.output()


def tour(lab):
    """Runs the tour and looks at what is there."""
    lab.open("tour.ipynb")
    lab.clear()
    lab.command("notebook:run-all-cells")
    wait("all cells have run", lab.all_have_run)
    seen = lab.seen()
    # The tour shows one error on purpose.
    assert seen["errors"] == 1 and seen["tables"] >= 2 and seen["images"] >= 1, seen
    lab.pages("tour")


def other_notebooks(lab):
    """The others run too, without an error, and their plots and pictures are drawn."""
    for name, images in [("how-fusion-works", 0), ("image-processing", 7), ("pagerank", 2),
                         ("black-scholes", 4)]:
        lab.open(f"{name}.ipynb")
        lab.clear()
        lab.command("notebook:run-all-cells")
        wait("all cells have run", lab.all_have_run)
        seen = lab.seen()
        assert seen["errors"] == 0 and seen["images"] >= images, (name, seen)
        lab.pages(name)
    lab.open("tour.ipynb")


def colours(lab):
    """Cells are coloured: a keyword has another colour than a name."""
    lab.add_cell("def twice x = 2 * x  -- coloured")
    found = wait("colours", lambda: lab.script(
        "const line = notebook.activeCell.node.querySelector('.cm-line');"
        "const spans = [...line.querySelectorAll('span')];"
        "return spans.length < 4 ? null : spans.map(s => [s.innerText, getComputedStyle(s).color])"))
    colour = {text: colour for text, colour in found}
    assert len({colour["def"], colour["2"], colour["-- coloured"]}) == 3, colour


def completion(lab):
    lab.run_cell("measured = [1.5, 2.5]")
    lab.add_cell("sum meas")
    lab.command("completer:invoke-notebook")
    menu = wait("the menu", lambda: lab.script(MENU))
    assert "measured" in menu and "[2]f64" in menu, menu
    lab.command("completer:select-notebook")
    wait("completion", lambda: lab.script(
        "return notebook.activeCell.model.sharedModel.getSource() === 'sum measured'"))
    lab.add_cell("scan")
    lab.command("completer:invoke-notebook")
    menu = wait("the menu", lambda: lab.script(MENU))
    assert "scanl1" in menu and "→" in menu, menu
    lab.picture("completion")
    lab.script("notebook.mode = 'command'; notebook.activeCell.model.sharedModel.setSource('');")


def indentation(lab):
    lab.add_cell("def f x =")
    for text, source in [
        ("\nlet y = x", "def f x =\n  let y = x"),
        ("\nz = 2", "def f x =\n  let y = x\n      z = 2"),
    ]:
        ActionChains(lab.browser).send_keys(text).perform()
        wait("the line", lambda: lab.script(
            "return notebook.activeCell.model.sharedModel.getSource()") == source)
    lab.script("notebook.mode = 'command'; notebook.activeCell.model.sharedModel.setSource('');")


def tooltip(lab):
    lab.add_cell("scanl (+) 0 ")
    lab.command("tooltip:launch-notebook")
    text = wait("the tooltip", lambda: lab.script(
        "const tip = document.querySelector('.jp-Tooltip'); return tip && tip.innerText"))
    assert text.startswith("scanl :"), text
    lab.picture("tooltip")
    lab.script("notebook.activeCell.model.sharedModel.setSource('');")
    lab.command("tooltip:dismiss")


def errors(lab):
    text = lab.run_cell("def half x = x / 2\nhalf (sum (iota 4))")
    assert "error" in text.lower() or "E0" in text, text
    lab.script("notebook.scrollToItem(notebook.activeCellIndex, 'end');")
    time.sleep(0.3)
    lab.picture("error")


def interrupt(lab):
    lab.run_cell("kept = 5")
    lab.add_cell("loop x = 0 while x >= 0 do (x + 1) % 7")
    lab.command("notebook:run-cell")
    wait("the cell runs", lambda: not lab.is_idle())
    time.sleep(0.3)
    started = time.monotonic()
    lab.command("notebook:interrupt-kernel")
    wait("the cell stops", lambda: "Interrupted" in lab.output())
    print(f"interrupted after {time.monotonic() - started:.2f} s")
    assert "6" in lab.run_cell("kept + 1")


def restart_and_run_all(lab):
    lab.open("tour.ipynb")
    lab.clear()
    lab.command("notebook:restart-run-all")
    wait("the question", lambda: lab.script(
        "const yes = document.querySelector('.jp-Dialog .jp-mod-accept');"
        "if (yes) yes.click(); return !!yes"))
    wait("it starts anew", lambda: 1 in lab.counts())
    wait("all cells have run again", lab.all_have_run)
    counts = lab.counts()
    assert counts == list(range(1, len(counts) + 1)), counts


def main():
    examples, pictures = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for notebook in examples.glob("*.ipynb"):
            shutil.copy(notebook, copy)
        (copy / "data").symlink_to(examples / "data")
        lab = Lab(copy, pictures)
        try:
            for step in [tour, other_notebooks, colours, completion, indentation, tooltip, errors,
                         interrupt, restart_and_run_all]:
                try:
                    step(lab)
                except BaseException:
                    lab.picture(f"failed-{step.__name__}")
                    raise
        finally:
            lab.close()


if __name__ == "__main__":
    main()
