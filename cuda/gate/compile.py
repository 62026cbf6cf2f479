"""Compiles CUDA text with NVRTC and prints what the kernels need, one line per kernel:

    text  kernel  registers  shared  stack  spilled  wide loads  wide stores  divisions  instructions

Bytes for shared memory, stack and what is spilled; loads and stores of 16 bytes in global memory; calls
of a routine for 64-bit division. Fields are separated by tabs. Every text is also compiled to portable
PTX. No GPU is needed: NVRTC and nvdisasm come from wheels (requirements.txt). Exits with status 3 and a
reason where they are not installed, with 1 and the log where a text does not compile.
"""

import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile

# The device, and the oldest architecture that this release of NVRTC knows.
DEVICE = "sm_90"
PORTABLE = "compute_75"


class Missing(Exception):
    """What is not installed."""


def installed():
    """NVRTC, with the library of its built-in functions loaded before it, and the path of nvdisasm."""
    try:
        import nvidia
    except ImportError:
        raise Missing("the wheel nvidia-cuda-nvrtc is not installed") from None
    nvrtc = disassembler = None
    for path in nvidia.__path__:
        builtins = glob.glob(f"{path}/*/lib/libnvrtc-builtins.so*")
        found = glob.glob(f"{path}/*/lib/libnvrtc.so*")
        if builtins and found:
            ctypes.CDLL(builtins[0], ctypes.RTLD_GLOBAL)
            nvrtc = ctypes.CDLL(found[0])
        disassembler = disassembler or next(iter(glob.glob(f"{path}/*/bin/nvdisasm")), None)
    if nvrtc is None:
        raise Missing("the wheel nvidia-cuda-nvrtc is not installed")
    if disassembler is None:
        raise Missing("the wheel nvidia-cuda-nvdisasm is not installed")
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != (13, 0):
        raise Missing(f"NVRTC is {major.value}.{minor.value}, not 13.0")
    return nvrtc, disassembler


def compile_text(nvrtc, text, name, architecture):
    """The status, the log, and the machine code, if the architecture is of a device."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
    options = [
        f"--gpu-architecture={architecture}",
        "--std=c++17",
        "--fmad=false",
        "--prec-div=true",
        "--prec-sqrt=true",
        "--ftz=false",
        # Each text has all skeletons.
        "--diag-suppress=177",
        "--minimal",
    ]
    if architecture == DEVICE:
        options.append("--ptxas-options=-v")
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)

    def fetched(what):
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw

    log = fetched("ProgramLog").rstrip(b"\0").decode()
    code = fetched("CUBIN") if status == 0 and architecture == DEVICE else b""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log, code


def needs(log):
    """Registers, shared memory, stack and spilled bytes of each kernel, from the log of ptxas."""
    kernels, name, stack, spilled = {}, None, 0, 0
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            name, stack, spilled = match[1], 0, 0
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
            stack, spilled = int(match[1]), int(match[2])
        elif name and (match := re.search(r"Used (\d+) registers", line)):
            shared = re.search(r"(\d+) bytes smem", line)
            kernels[name] = [int(match[1]), int(shared[1]) if shared else 0, stack, spilled]
            name = None
    return kernels


def patterns(disassembler, code):
    """Wide loads, wide stores, divisions and instructions of each kernel, from the machine code."""
    with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as file:
        file.write(code)
    try:
        command = [disassembler, "-c", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        os.unlink(file.name)
    kernels, name = {}, None
    for line in text.splitlines():
        if match := re.search(r"\.section\s+\.text\.(\w+)", line):
            name = match[1]
            kernels[name] = [0, 0, 0, 0]
        elif re.search(r"\.section", line):
            name = None
        elif name and re.match(r"\s+/\*[0-9a-f]+\*/", line):
            counts = kernels[name]
            counts[0] += bool(re.search(r"\bLDG\.E\.(\w+\.)*128", line))
            counts[1] += bool(re.search(r"\bSTG\.E\.(\w+\.)*128", line))
            counts[2] += bool(re.search(r"CALL.*_(div|rem)_[su]64", line))
            counts[3] += 1
    return kernels


def main():
    try:
        nvrtc, disassembler = installed()
    except Missing as reason:
        print(reason, file=sys.stderr)
        return 3
    for path in sys.argv[1:]:
        name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        with open(path) as file:
            text = file.read()
        for architecture in [PORTABLE, DEVICE]:
            status, log, code = compile_text(nvrtc, text, name + ".cu", architecture)
            if status != 0:
                print(f"{name} does not compile for {architecture}:\n{log}", file=sys.stderr)
                return 1
        found = patterns(disassembler, code)
        for kernel, numbers in needs(log).items():
            print(name, kernel, *numbers, *found[kernel], sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
