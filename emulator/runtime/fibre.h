// Threads of a kernel as fibres of one thread of the operating system.
#ifndef WEFT_FIBRE_H
#define WEFT_FIBRE_H
#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

// Where a fibre stopped.
struct Context {
#if defined(__x86_64__) || defined(__aarch64__)
  void *stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
};

struct Stack {
  char *low;  // just above a page that faults
};

constexpr std::size_t STACK_BYTES = 128 << 10;

Stack new_stack();
// A context that begins with a call of `start`, which never returns.
void prepare(Context &context, const Stack &stack, void (*start)());
// Stops here and goes on there.
void switch_to(Context &here, Context &there);
#endif
