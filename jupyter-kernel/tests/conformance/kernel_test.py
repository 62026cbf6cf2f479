"""The kernel under jupyter_kernel_test, with every attribute filled so that nothing is skipped.

Run through conformance.sh, which makes the environment and installs the kernel there.
"""

import unittest

import jupyter_kernel_test


class WeftKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "weft"
    language_name = "weft"
    file_extension = ".weft"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kc.execute("noted = 1\ndef usesNoted x = x + noted", reply=True, timeout=15)

    # A command prints; a bare text is a result.
    code_hello_world = ':type "hello, world"'
    # A note: a function of an earlier cell still uses what this one redefines.
    code_stderr = "noted = 2"
    completion_samples = [
        {"text": "zipWi", "matches": {"zipWith", "zipWith3", "zipWith4"}},
        {"text": ":und", "matches": {"undo"}},
    ]
    complete_code_samples = ["1 + 1", "def f x = x + 1", ":vars", "sum?"]
    incomplete_code_samples = ["f (1", "let x = 1 in", "if true then"]
    invalid_code_samples = ["1 +) 2", "]"]
    code_page_something = "sum?"
    code_generate_error = "first (iota 0)"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "sum (iota 10)", "result": "45"},
        {"code": "[[1, 2], [3, 4]]", "mime": "text/html"},
        {"code": "{ { u8 (i * j) : j in iota 40 } : i in iota 40 }", "mime": "image/png"},
    ]
    code_display_data = [{"code": "[[1, 2], [3, 4]]\n0", "mime": "text/html"}]
    code_history_pattern = "6 ?*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "scanl"
    code_clear_output = ":clear"


class WeftWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "weft"
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main()
