"""Compiles CUDA text with NVRTC and prints what the kernels need, one line per kernel:

    text<TAB>kernel<TAB>registers<TAB>spilled bytes<TAB>stack bytes<TAB>shared bytes

No GPU is needed. NVRTC comes from the wheel `nvidia-cuda-nvrtc`, pinned to CUDA 13.0 (13.0.88). Exits
with status 3 and a reason where it is not installed, with 1 and the log where a text does not compile.
"""

import ctypes
import glob
import re
import sys


def library():
    """NVRTC, with the library of its built-in functions loaded before it."""
    try:
        import nvidia
    except ImportError:
        return None
    for path in nvidia.__path__:
        builtins = glob.glob(f"{path}/*/lib/libnvrtc-builtins.so*")
        found = glob.glob(f"{path}/*/lib/libnvrtc.so*")
        if builtins and found:
            ctypes.CDLL(builtins[0], ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(found[0])
    return None


def compile_text(nvrtc, text, name):
    """The status and the log."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
    options = [
        b"--gpu-architecture=sm_90",
        b"--std=c++17",
        b"--fmad=false",
        b"--prec-div=true",
        b"--prec-sqrt=true",
        b"--ftz=false",
        b"--ptxas-options=-v",
        # Each text has all skeletons.
        b"--diag-suppress=177",
    ]
    array = (ctypes.c_char_p * len(options))(*options)
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


def main():
    nvrtc = library()
    if nvrtc is None:
        print("the wheel nvidia-cuda-nvrtc is not installed", file=sys.stderr)
        return 3
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != (13, 0):
        print(f"NVRTC is {major.value}.{minor.value}, not 13.0", file=sys.stderr)
        return 3
    for path in sys.argv[1:]:
        name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        status, log = compile_text(nvrtc, open(path).read(), name + ".cu")
        if status != 0:
            print(f"{name} does not compile:\n{log}", file=sys.stderr)
            return 1
        kernel, stack, spilled = None, 0, 0
        for line in log.splitlines():
            if match := re.search(r"Compiling entry function '(\w+)'", line):
                kernel, stack, spilled = match[1], 0, 0
            elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
                stack, spilled = int(match[1]), int(match[2])
            elif kernel and (match := re.search(r"Used (\d+) registers", line)):
                shared = re.search(r"(\d+) bytes smem", line)
                shared = int(shared[1]) if shared else 0
                print(name, kernel, match[1], spilled, stack, shared, sep="\t")
                kernel = None
    return 0


if __name__ == "__main__":
    sys.exit(main())
