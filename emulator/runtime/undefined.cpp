// What -fsanitize=undefined makes of operations that C++ leaves undefined. Every record that the
// compiler passes begins with the place in the source.
#include <string>

#include "machine.h"

struct Place {
  const char *file;
  unsigned line, column;
};

[[noreturn]] static void undefined(const char *what, const void *record) {
  unsigned line = static_cast<const Place *>(record)->line;
  fail(std::string("undefined: ") + what + " at " + describe_site(line) + " by " +
       describe(*launch->current));
}

#define HANDLER2(name, what) \
  extern "C" void __ubsan_handle_##name(void *record, unsigned long) { undefined(what, record); }
#define HANDLER3(name, what)                                                   \
  extern "C" void __ubsan_handle_##name(void *record, unsigned long, unsigned long) { \
    undefined(what, record);                                                   \
  }
HANDLER2(out_of_bounds, "an index beyond the array")
HANDLER3(shift_out_of_bounds, "a shift by a negative count or by the width")
HANDLER3(divrem_overflow, "a division by zero, or one that overflows")
HANDLER3(add_overflow, "a signed addition that overflows")
HANDLER3(sub_overflow, "a signed subtraction that overflows")
HANDLER3(mul_overflow, "a signed multiplication that overflows")
HANDLER2(negate_overflow, "a negation that overflows")
HANDLER2(float_cast_overflow, "a conversion of a float that is out of range")
HANDLER2(load_invalid_value, "a bool that is neither true nor false")
