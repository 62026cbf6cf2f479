#!/usr/bin/env python3
"""Types a session into a real `weft` on a pseudo-terminal and draws the screen as SVG.

From the root of the repository:
    python3 docs/images/session.py target/release/weft > docs/images/session.svg
"""
import fcntl
import html
import os
import pty
import re
import select
import struct
import sys
import termios
import time

COLUMNS, ROWS = 90, 24
CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 14
LINES = [
    'loadCsv "examples/data/planets.csv"',
    "sqrt (it.x ** 2.0 + it.y ** 2.0 + it.z ** 2.0)",
    "def softmax xs =\rlet e = exp (xs - maximum xs) in e / sum e",
    "softmax [[1.0, 2.0, 3.0], [10.0, 10.0, 10.0]]",
    "xs = linspace 0.0 10.0 400",
    ":fuse sum (map (* 2.0) xs) / maximum xs",
    "[{linePlot xs (exp (-0.3 * xs) * cos (4.0 * xs)) with label = \"damped\"},"
    " {linePlot xs (exp (-0.3 * xs)) with label = \"envelope\"}]",
    'photo = loadImage "examples/data/camera.pgm"',
    "photo[0] + photo[0, 1:]",
]
COLOURS = {
    "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff",
    "36": "#76e3ea", "90": "#8b949e", "93": "#f2cc60",
}


def main():
    print(draw(screen(record(sys.argv[1], LINES))))


def record(weft, lines):
    """What the command writes to its terminal while the lines are typed."""
    process, terminal = pty.fork()
    if process == 0:
        environment = {"TERM": "xterm-256color", "WEFT_HISTORY": "", "PATH": os.environ["PATH"]}
        os.execve(weft, [weft], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    output = read_until_quiet(terminal)
    for line in lines:
        # Key by key, so that the hints of each line are asked for.
        for part in line.split("\r"):
            os.write(terminal, part.encode() + b"\r")
            output += read_until_quiet(terminal)
    os.kill(process, 15)
    os.waitpid(process, 0)
    return output.decode()


def read_until_quiet(terminal, quiet=1.0):
    output, deadline = b"", time.time() + quiet
    while time.time() < deadline:
        if select.select([terminal], [], [], 0.05)[0]:
            output += os.read(terminal, 65536)
            deadline = time.time() + quiet
    return output


def screen(output):
    """The lines of the screen, each a list of cells (character, style)."""
    lines, row, column, style = [[]], 0, 0, ()
    for escape, arguments, command, char in re.findall(r"(\x1b\[([0-9;?]*)([A-Za-z]))|([^\x1b])", output):
        if escape:
            first = arguments.split(";")[0]
            count = int(first) if first.isdigit() else 1
            if command == "m":
                style = () if arguments in ("", "0") else style + (arguments,)
            elif command == "K":
                del lines[row][column:]
            elif command == "C":
                column += count
            elif command == "A":
                row = max(0, row - count)
            elif command == "J":
                del lines[row + 1 :]
                del lines[row][column:]
        elif char == "\r":
            column = 0
        elif char == "\n":
            row += 1
            while len(lines) <= row:
                lines.append([])
        else:
            line = lines[row]
            line.extend((" ", ()) for _ in range(column + 1 - len(line)))
            line[column] = (char, style)
            column += 1
    # The last prompt waits for nothing.
    return lines[:-1]


def draw(lines):
    width = COLUMNS * CELL_WIDTH + 2 * MARGIN
    height = len(lines) * CELL_HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img" aria-label="A session of Weft">',
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#0d1117"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        'xml:space="preserve">',
    ]
    for row, line in enumerate(lines):
        y = MARGIN + row * CELL_HEIGHT + 13
        start = 0
        while start < len(line):
            end = start
            while end < len(line) and line[end][1] == line[start][1]:
                end += 1
            text = "".join(char for char, _ in line[start:end])
            dots = braille(text, MARGIN + start * CELL_WIDTH, MARGIN + row * CELL_HEIGHT)
            if dots:
                colour = look(line[start][1]).replace("fill", "stroke")
                parts.append(f'<path d="{dots}" {colour} stroke-width="2.3" stroke-linecap="round"/>')
            elif text.strip():
                x = MARGIN + start * CELL_WIDTH
                length = len(text) * CELL_WIDTH
                parts.append(
                    f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" '
                    f'{look(line[start][1])}>{html.escape(text)}</text>'
                )
            start = end
    return "\n".join(parts + ["</g>", "</svg>"])


def braille(text, left, top):
    """The dots of braille characters as a path; fonts disagree about how wide those are."""
    path = []
    for index, char in enumerate(text):
        bits = ord(char) - 0x2800
        for bit in range(8) if 0 < bits < 256 else ():
            if bits >> bit & 1:
                # Bits 0 to 5 go down the columns, 6 and 7 are the row below.
                column, row = (bit // 3, bit % 3) if bit < 6 else (bit - 6, 3)
                x = left + (index + (column + 0.5) / 2) * CELL_WIDTH
                y = top + (row + 0.5) / 4 * CELL_HEIGHT
                path.append(f"M{x:.1f} {y:.1f}h0")
    return "".join(path)


def look(style):
    fill, weight = "#e6edf3", ""
    for code in style:
        if code == "1":
            weight = ' font-weight="bold"'
        elif code == "2" or code.startswith("38;5;24"):
            fill = "#8b949e"
        else:
            fill = COLOURS.get(code, fill)
    return f'fill="{fill}"{weight}'


main()
