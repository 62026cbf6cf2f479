// The emulated device: buffers, modules, and a launch with its blocks and threads.
#ifndef WEFT_MACHINE_H
#define WEFT_MACHINE_H
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "fibre.h"
#include "interface.h"
#include "order.h"

// ---- what a launch is asked for ---------------------------------------------------------------

enum class Order : std::uint32_t { Ascending, Descending, Random };

struct Schedule {
  Order order;                 // of blocks, and of threads in a block
  std::uint32_t resident;      // how many blocks run at once
  std::uint32_t preempt;       // how often an access lets others run, in 1/65536
  std::uint64_t seed;          // of all that is random
  std::uint64_t patience;      // accesses and polls without progress before the launch is given up
};

// ---- memory -----------------------------------------------------------------------------------

// Who wrote and who read some bytes last.
struct Cell {
  Stamp write, read;
  std::uint32_t launch = 0;  // cells of earlier launches are void
};

struct Buffer {
  std::uint8_t *low;
  std::uint64_t bytes;
  std::uint64_t mapped;  // bytes of the mapping, which ends with a page that faults
  std::uint8_t *mapping;
  std::uint32_t shift;   // a cell stands for so many bytes (log2)
  std::string name;
  std::vector<bool> written;
  Cell *cells;
  std::uint64_t cells_bytes;
};

Buffer &new_buffer(std::uint64_t bytes, std::uint32_t element, const std::string &name);
void free_buffer(std::uint64_t address);
// The buffer that holds these bytes; else the launch, or the request, fails.
Buffer *find_buffer(const std::uint8_t *address);

// ---- a launch ---------------------------------------------------------------------------------

enum class State : std::uint8_t { Fresh, Ready, Barrier, Collective, Done };

struct Block;

struct Thread {
  Context context;
  Stack stack{};
  bool has_stack = false;
  Block *block = nullptr;
  std::uint16_t number = 0;
  State state = State::Fresh;
  uint3 index{};
  Clocks clocks;
  // At a barrier or in a collective operation.
  int kind = 0;
  unsigned mask = 0, site = 0;
  unsigned long long value = 0, result = 0;
  int argument = 0;
};

struct Block {
  std::uint32_t number = 0;
  uint3 index{};
  std::vector<Thread> threads;
  std::vector<std::uint16_t> ready;
  std::uint32_t alive = 0, arrived = 0, epoch = 1;
  int barrier_result = 0;
  Known known;
  std::vector<std::uint8_t> shared;  // its shared memory while another block runs
  std::vector<Cell> cells;           // of its shared memory
  std::uint32_t shift = 2;
  bool active = false;
};

struct Module {
  void *handle = nullptr;
  std::string path;
  std::uint8_t *low = nullptr, *high = nullptr;        // its code and constants
  std::uint8_t *shared_low = nullptr, *shared_high = nullptr;
};

constexpr std::uint64_t NEVER_POKED = ~std::uint64_t{0};

struct Statistics {
  std::uint64_t blocks = 0, threads = 0, switches = 0, accesses = 0, barriers = 0;
  std::uint64_t trace = 0xcbf29ce484222325;  // a hash of the schedule
  std::uint64_t poked = NEVER_POKED;         // the accesses before the host first changed memory
};

// What the last store to an address released.
struct Released {
  Known known;
};

struct Launch {
  Module *module = nullptr;
  void (*entry)(void **) = nullptr;
  void **arguments = nullptr;
  dim3 grid{}, block{};
  Schedule schedule{};
  std::uint32_t number = 0;
  Context main;
  std::vector<Block *> blocks;  // resident
  Block *loaded = nullptr;      // whose shared memory is in place
  Thread *current = nullptr;
  std::uint64_t random = 1;
  std::uint64_t idle = 0;
  std::uint64_t started = 0;
  std::vector<std::uint64_t> order;
  std::vector<Stack> stacks;
  std::string error;
  std::unordered_map<std::uintptr_t, Released> released;
  std::unordered_map<Cell *, std::vector<Stamp>> readers;
  Statistics statistics;
};

extern Launch *launch;

// Runs; yields an empty message, or what went wrong.
std::string run(Launch &wanted);
// Ends the launch with a message; only to be called by a thread of the kernel.
[[noreturn]] void fail(const std::string &message);
// Lets others run.
void yield();
// This thread waits for another one: lets others run, and gives up if nothing ever changes.
void poll();
// Takes what the host has to say while a kernel runs.
void listen();
// Something has changed.
void progress();
std::uint32_t random_below(std::uint32_t bound);
std::string describe(const Thread &thread);
std::string describe_site(unsigned site);
// The kernel's source line of a place in the module.
std::string describe_pc(const Module &module, std::uint32_t pc);
#endif
