#include "fibre.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

Stack new_stack() {
  const std::size_t page = 4096;
  void *memory = mmap(nullptr, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("a stack");
    std::abort();
  }
  mprotect(memory, page, PROT_NONE);
  return Stack{static_cast<char *>(memory) + page};
}

#if defined(__x86_64__)

// By hand because `swapcontext` saves the signal mask, which is a system call and ten times slower.
extern "C" void weft_switch(void **save, void *to);
asm(R"(
.text
.globl weft_switch
.type weft_switch,@function
weft_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size weft_switch,.-weft_switch
)");

void prepare(Context &context, const Stack &stack, void (*start)()) {
  auto top = reinterpret_cast<std::uintptr_t>(stack.low + STACK_BYTES) & ~std::uintptr_t{15};
  void **at = reinterpret_cast<void **>(top);
  *--at = nullptr;  // the return address of `start`, which keeps the stack aligned as after a call
  *--at = reinterpret_cast<void *>(start);
  for (int saved = 0; saved < 6; saved++) *--at = nullptr;
  context.stack_pointer = at;
}

void switch_to(Context &here, Context &there) {
  weft_switch(&here.stack_pointer, there.stack_pointer);
}

#elif defined(__aarch64__)

extern "C" void weft_switch(void **save, void *to);
asm(R"(
.text
.globl weft_switch
weft_switch:
  sub sp,sp,#160
  stp x19,x20,[sp,#0]
  stp x21,x22,[sp,#16]
  stp x23,x24,[sp,#32]
  stp x25,x26,[sp,#48]
  stp x27,x28,[sp,#64]
  stp x29,x30,[sp,#80]
  stp d8,d9,[sp,#96]
  stp d10,d11,[sp,#112]
  stp d12,d13,[sp,#128]
  stp d14,d15,[sp,#144]
  mov x9,sp
  str x9,[x0]
  mov sp,x1
  ldp x19,x20,[sp,#0]
  ldp x21,x22,[sp,#16]
  ldp x23,x24,[sp,#32]
  ldp x25,x26,[sp,#48]
  ldp x27,x28,[sp,#64]
  ldp x29,x30,[sp,#80]
  ldp d8,d9,[sp,#96]
  ldp d10,d11,[sp,#112]
  ldp d12,d13,[sp,#128]
  ldp d14,d15,[sp,#144]
  add sp,sp,#160
  ret
)");

void prepare(Context &context, const Stack &stack, void (*start)()) {
  auto top = reinterpret_cast<std::uintptr_t>(stack.low + STACK_BYTES) & ~std::uintptr_t{15};
  char *at = reinterpret_cast<char *>(top) - 160;
  std::memset(at, 0, 160);
  reinterpret_cast<void **>(at)[11] = reinterpret_cast<void *>(start);
  context.stack_pointer = at;
}

void switch_to(Context &here, Context &there) {
  weft_switch(&here.stack_pointer, there.stack_pointer);
}

#else

void prepare(Context &context, const Stack &stack, void (*start)()) {
  getcontext(&context.context);
  context.context.uc_stack.ss_sp = stack.low;
  context.context.uc_stack.ss_size = STACK_BYTES;
  context.context.uc_link = nullptr;
  makecontext(&context.context, start, 0);
}

void switch_to(Context &here, Context &there) { swapcontext(&here.context, &there.context); }

#endif
