// Buffers, and the check of every access.
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

#include "machine.h"

static std::map<std::uint8_t *, Buffer *> buffers;
static Buffer *latest = nullptr;

static void *map_pages(std::uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

Buffer &new_buffer(std::uint64_t bytes, std::uint32_t element, const std::string &name) {
  const std::uint64_t page = 4096;
  // Aligned as the device aligns, and as close to the page that faults as that allows.
  std::uint64_t body = (bytes + 255) / 256 * 256;
  std::uint64_t mapped = (body + page - 1) / page * page + 2 * page;
  auto *mapping = static_cast<std::uint8_t *>(map_pages(mapped));
  mprotect(mapping, page, PROT_NONE);
  mprotect(mapping + mapped - page, page, PROT_NONE);
  std::uint32_t shift = element >= 8 ? 3 : element >= 4 ? 2 : element >= 2 ? 1 : 0;
  std::uint64_t cells_bytes = ((bytes >> shift) + 2) * sizeof(Cell);
  auto *cells = static_cast<Cell *>(map_pages(cells_bytes));
  auto *buffer = new Buffer{mapping + mapped - page - body, bytes, mapped, mapping, shift, name,
                            std::vector<bool>(bytes), cells, cells_bytes};
  std::memset(buffer->low, 0xc5, body);
  buffers[buffer->low] = buffer;
  return *buffer;
}

void free_buffer(std::uint64_t address) {
  auto found = buffers.find(reinterpret_cast<std::uint8_t *>(address));
  if (found == buffers.end()) return;
  Buffer *buffer = found->second;
  buffers.erase(found);
  if (latest == buffer) latest = nullptr;
  munmap(buffer->mapping, buffer->mapped);
  munmap(buffer->cells, buffer->cells_bytes);
  delete buffer;
}

Buffer *find_buffer(const std::uint8_t *address) {
  if (latest && address >= latest->low && address < latest->low + latest->bytes) return latest;
  auto after = buffers.upper_bound(const_cast<std::uint8_t *>(address));
  if (after == buffers.begin()) return nullptr;
  Buffer *buffer = std::prev(after)->second;
  if (address >= buffer->low + buffer->bytes) return nullptr;
  return latest = buffer;
}

static std::string name_of(unsigned kind) {
  if (kind & WEFT_ATOMIC) return "atomic access";
  return (kind & 3) == WEFT_READ ? "read" : "write";
}

static std::string here(const Thread &thread, std::uint32_t pc) {
  return " by " + describe(thread) + " at " + describe_pc(*launch->module, pc);
}

static void race(const Thread &thread, const Stamp &earlier, unsigned kind, std::uint32_t pc,
                 const std::string &what) {
  std::string who = earlier.thread == MANY ? "several threads" : "thread " + std::to_string(earlier.thread);
  fail("race: a " + name_of(kind) + " of " + what + here(thread, pc) + " and a " +
       name_of(earlier.kind) + " by " + who + " of block " + std::to_string(earlier.block - 1) +
       " at " + describe_pc(*launch->module, earlier.pc) + " are not ordered");
}

// Whether two accesses may not meet unordered.
static bool conflict(const Stamp &earlier, unsigned kind, const Thread &thread) {
  if (!earlier.block) return false;
  if ((kind & WEFT_ATOMIC) && (earlier.kind & WEFT_ATOMIC)) return false;
  return !is_before(earlier, thread);
}

static void see(Cell &cell, Thread &thread, unsigned kind, std::uint32_t pc,
                const std::string &what) {
  if (cell.launch != launch->number) {
    cell = Cell{};
    cell.launch = launch->number;
  }
  Stamp now = stamp(thread, kind, pc);
  if (conflict(cell.write, kind, thread)) race(thread, cell.write, kind, pc, what);
  unsigned access = kind & 3;
  if (access == WEFT_READ) {
    Stamp &read = cell.read;
    if (!read.block || is_before(read, thread)) {
      read = now;
    } else if (read.block == now.block) {
      if (read.thread != now.thread) read.thread = MANY;
      read.clock = now.clock;
      if (!(kind & WEFT_ATOMIC)) read.kind = now.kind;
    } else {
      auto &others = launch->readers[&cell];
      auto same = std::find_if(others.begin(), others.end(),
                               [&](const Stamp &other) { return other.block == read.block; });
      if (same == others.end()) others.push_back(read);
      else *same = read;
      read = now;
    }
    return;
  }
  if (conflict(cell.read, kind, thread)) race(thread, cell.read, kind, pc, what);
  if (!launch->readers.empty()) {
    auto others = launch->readers.find(&cell);
    if (others != launch->readers.end()) {
      for (const Stamp &other : others->second) {
        if (conflict(other, kind, thread)) race(thread, other, kind, pc, what);
      }
      launch->readers.erase(others);
    }
  }
  cell.read = Stamp{};
  cell.write = now;
}

static std::uint32_t offset_of(const void *pc) {
  return static_cast<std::uint32_t>(static_cast<const std::uint8_t *>(pc) - launch->module->low);
}

[[noreturn]] static void out_of_bounds(const std::uint8_t *address, unsigned size, unsigned kind,
                                       const Thread &thread, std::uint32_t pc) {
  std::string near = "there is no buffer nearby";
  auto after = buffers.upper_bound(const_cast<std::uint8_t *>(address));
  std::int64_t best = 1 << 20;
  auto consider = [&](const Buffer &buffer, std::int64_t distance, const char *side) {
    if (distance < 0 || distance >= best) return;
    best = distance;
    near = std::to_string(distance) + " bytes " + side + " `" + buffer.name + "` of " +
           std::to_string(buffer.bytes) + " bytes";
  };
  if (after != buffers.end()) consider(*after->second, after->second->low - address, "before");
  if (after != buffers.begin()) {
    const Buffer &buffer = *std::prev(after)->second;
    consider(buffer, address - (buffer.low + buffer.bytes), "after the end of");
  }
  fail("out of bounds: a " + name_of(kind) + " of " + std::to_string(size) + " bytes, " + near +
       here(thread, pc));
}

static void check_shared(std::size_t at, unsigned size, unsigned kind, Thread &thread,
                         std::uint32_t pc) {
  Block &block = *thread.block;
  std::size_t bytes = launch->module->shared_high - launch->module->shared_low;
  if (block.cells.empty()) {
    block.shift = 2;
    block.cells.resize((bytes >> 2) + 1);
  }
  if (block.shift && ((at | size) & 3)) {
    std::vector<Cell> finer(bytes + 1);
    for (std::size_t byte = 0; byte < bytes; byte++) finer[byte] = block.cells[byte >> 2];
    block.cells.swap(finer);
    block.shift = 0;
  }
  for (unsigned byte = 0; byte < size; byte += 1u << block.shift) {
    Cell &cell = block.cells[(at + byte) >> block.shift];
    bool written = cell.launch == launch->number && cell.write.block;
    if ((kind & 3) != WEFT_WRITE && !written) {
      fail("uninitialised: a read of shared memory that nobody wrote" + here(thread, pc));
    }
    see(cell, thread, kind, pc, "shared memory");
  }
}

// Any access of the kernel, right before it happens.
static void check(const volatile void *where, unsigned size, unsigned kind, const void *from) {
  Thread &thread = *launch->current;
  auto *address = static_cast<const std::uint8_t *>(const_cast<const void *>(where));
  auto *stack = reinterpret_cast<const std::uint8_t *>(thread.stack.low);
  if (address >= stack && address < stack + STACK_BYTES) return;
  launch->statistics.accesses++;
  std::uint32_t pc = offset_of(from);
  auto place = reinterpret_cast<std::uintptr_t>(address);
  if (size <= 16 && (size & (size - 1)) == 0 && (place & (size - 1))) {
    fail("misaligned: a " + name_of(kind) + " of " + std::to_string(size) + " bytes" +
         here(thread, pc));
  }
  const Module &module = *launch->module;
  if (address >= module.shared_low && address < module.shared_high) {
    if (address + size > module.shared_high) out_of_bounds(address, size, kind, thread, pc);
    check_shared(address - module.shared_low, size, kind, thread, pc);
    return;
  }
  if (address >= module.low && address < module.high) return;
  Buffer *buffer = find_buffer(address);
  if (!buffer || address + size > buffer->low + buffer->bytes) {
    out_of_bounds(address, size, kind, thread, pc);
  }
  std::size_t at = address - buffer->low;
  for (unsigned byte = 0; byte < size; byte++) {
    if ((kind & 3) != WEFT_WRITE && !buffer->written[at + byte]) {
      fail("uninitialised: a read of byte " + std::to_string(at + byte) + " of `" + buffer->name +
           "`, which nobody wrote," + here(thread, pc));
    }
    if ((kind & 3) != WEFT_READ) buffer->written[at + byte] = true;
  }
  for (std::size_t cell = at >> buffer->shift; cell <= (at + size - 1) >> buffer->shift; cell++) {
    see(buffer->cells[cell], thread, kind, pc, "`" + buffer->name + "`");
  }
}

static void preempt() {
  if (launch->schedule.preempt && random_below(65536) < launch->schedule.preempt) yield();
}

static void plain(const volatile void *address, unsigned size, unsigned kind, const void *pc) {
  preempt();
  check(address, size, kind, pc);
  if (kind != WEFT_READ) progress();
}

// Shared memory of all blocks has the same address.
static std::uintptr_t key(const volatile void *where, const Thread &thread) {
  auto *address = static_cast<const std::uint8_t *>(const_cast<const void *>(where));
  auto place = reinterpret_cast<std::uintptr_t>(address);
  const Module &module = *launch->module;
  if (address < module.shared_low || address >= module.shared_high) return place;
  return place ^ (static_cast<std::uintptr_t>(thread.block->number + 1) << 48);
}

extern "C" void weft_ordered(const volatile void *address, unsigned size, unsigned kind,
                             const void *pc) {
  // Others run before, so that nothing comes between the check and the access.
  if ((kind & 3) == WEFT_READ) poll();
  else if (launch->schedule.order == Order::Random && random_below(4) == 0) yield();
  Thread &thread = *launch->current;
  check(address, size, kind & 7, pc);
  Released &released = launch->released[key(address, thread)];
  if ((kind & 3) != WEFT_WRITE) {
    Known &to = kind & WEFT_ACQUIRE ? thread.clocks.known : thread.clocks.pending;
    to = join(to, released.known);
  }
  if ((kind & 3) != WEFT_READ) {
    Known now = kind & WEFT_RELEASE ? snapshot(thread) : thread.clocks.fenced;
    released.known = (kind & 3) == WEFT_UPDATE ? join(released.known, now) : now;
    if ((kind & 3) == WEFT_WRITE) progress();
  }
}

extern "C" void weft_updated(int changed) {
  if (changed) progress();
  else poll();
}

extern "C" void weft_fence(int device) {
  Thread &thread = *launch->current;
  if (device) {
    thread.clocks.known = join(thread.clocks.known, thread.clocks.pending);
    thread.clocks.fenced = snapshot(thread);
  }
  preempt();
}

extern "C" void weft_wait(void) { poll(); }

// ---- what -fsanitize=thread makes of accesses ---------------------------------------------------

#define HERE __builtin_return_address(0)
#define HOOKS(size)                                                                              \
  extern "C" void __tsan_read##size(void *p) { plain(p, size, WEFT_READ, HERE); }                \
  extern "C" void __tsan_write##size(void *p) { plain(p, size, WEFT_WRITE, HERE); }              \
  extern "C" void __tsan_unaligned_read##size(void *p) { plain(p, size, WEFT_READ, HERE); }      \
  extern "C" void __tsan_unaligned_write##size(void *p) { plain(p, size, WEFT_WRITE, HERE); }    \
  extern "C" void __tsan_volatile_read##size(void *p) { plain(p, size, WEFT_READ, HERE); }       \
  extern "C" void __tsan_volatile_write##size(void *p) { plain(p, size, WEFT_WRITE, HERE); }     \
  extern "C" void __tsan_unaligned_volatile_read##size(void *p) { plain(p, size, WEFT_READ, HERE); } \
  extern "C" void __tsan_unaligned_volatile_write##size(void *p) { plain(p, size, WEFT_WRITE, HERE); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

extern "C" void __tsan_read_range(void *p, unsigned long size) {
  if (size) plain(p, static_cast<unsigned>(size), WEFT_READ, HERE);
}
extern "C" void __tsan_write_range(void *p, unsigned long size) {
  if (size) plain(p, static_cast<unsigned>(size), WEFT_WRITE, HERE);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit(void *) {}
