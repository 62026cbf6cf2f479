// Which thread runs: blocks, barriers and what warps do together.
#include <algorithm>
#include <cstring>
#include <memory>

#include "machine.h"

Launch *launch = nullptr;

// ---- chance -------------------------------------------------------------------------------------

std::uint32_t random_below(std::uint32_t bound) {
  std::uint64_t &state = launch->random;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::uint32_t>((state >> 32) * bound >> 32);
}

static void trace(std::uint64_t word) {
  std::uint64_t &hash = launch->statistics.trace;
  hash = (hash ^ word) * 0x100000001b3ull;
}

// ---- failures -----------------------------------------------------------------------------------

std::string describe(const Thread &thread) {
  auto text = [](const uint3 &index) {
    std::string text = std::to_string(index.x);
    if (index.y || index.z) text += "," + std::to_string(index.y);
    if (index.z) text += "," + std::to_string(index.z);
    return text;
  };
  return "thread " + text(thread.index) + " of block " + text(thread.block->index);
}

std::string describe_site(unsigned site) { return "line " + std::to_string(site & 0xffff); }

void fail(const std::string &message) {
  launch->error = message;
  Context abandoned;
  switch_to(abandoned, launch->main);
  __builtin_unreachable();
}

extern "C" void weft_fail(const char *message, unsigned line) {
  fail(std::string(message) + " at " + describe_site(line) + " by " + describe(*launch->current));
}

// ---- threads ------------------------------------------------------------------------------------

static void make_ready(Thread &thread) {
  thread.state = State::Ready;
  thread.block->ready.push_back(thread.number);
}

// Back to the scheduler, until it chooses this thread again.
static void stop() {
  Thread &self = *launch->current;
  launch->statistics.switches++;
  switch_to(self.context, launch->main);
}

void progress() { launch->idle = 0; }

void yield() {
  make_ready(*launch->current);
  stop();
}

void poll() {
  if (++launch->idle > launch->schedule.patience) {
    fail("no progress: all threads that run have waited for each other, or for blocks that have no "
         "room, for a long time; the last one is " + describe(*launch->current));
  }
  yield();
}

static void check_warp(Block &block, Thread &left);

static void thread_main() {
  launch->entry(launch->arguments);
  Thread &self = *launch->current;
  Block &block = *self.block;
  self.state = State::Done;
  block.alive--;
  progress();
  if (block.arrived && block.arrived == block.alive) {
    for (Thread &other : block.threads) {
      if (other.state != State::Barrier) continue;
      fail("divergent barrier: " + describe(self) + " ended while others wait at " +
           describe_site(other.site));
    }
  }
  check_warp(block, self);
  Context never;
  switch_to(never, launch->main);
  __builtin_unreachable();
}

// ---- barriers -----------------------------------------------------------------------------------

static void release(Block &block) {
  int kind = block.threads[0].kind;
  int result = kind == WEFT_BARRIER_AND ? 1 : 0;
  Known known = block.known;
  for (Thread &thread : block.threads) {
    if (thread.site != block.threads[0].site || thread.kind != kind) {
      fail("divergent barrier: threads of block " + std::to_string(block.number) + " wait at " +
           describe_site(block.threads[0].site) + " and at " + describe_site(thread.site));
    }
    int said = static_cast<int>(thread.value);
    if (kind == WEFT_BARRIER_COUNT) result += said;
    if (kind == WEFT_BARRIER_AND) result &= said;
    if (kind == WEFT_BARRIER_OR) result |= said;
    known = join(known, thread.clocks.known);
  }
  for (Thread &thread : block.threads) thread.clocks.known = nullptr;
  block.known = known;
  block.barrier_result = result;
  block.arrived = 0;
  block.epoch++;
  launch->statistics.barriers++;
  for (Thread &thread : block.threads) make_ready(thread);
}

extern "C" int weft_barrier(int kind, int predicate, unsigned site) {
  Thread &self = *launch->current;
  Block &block = *self.block;
  self.kind = kind;
  self.value = static_cast<unsigned long long>(predicate);
  self.site = site;
  self.state = State::Barrier;
  progress();
  block.arrived++;
  if (block.alive < block.threads.size()) {
    fail("divergent barrier: " + describe(self) + " waits at " + describe_site(site) +
         " for threads that have ended");
  }
  if (block.arrived == block.alive) release(block);
  stop();
  return block.barrier_result;
}

// ---- warps --------------------------------------------------------------------------------------

static Thread *lane_of(Block &block, const Thread &of, int lane) {
  std::size_t number = (of.number & ~31u) + static_cast<unsigned>(lane);
  return number < block.threads.size() ? &block.threads[number] : nullptr;
}

static unsigned long long shuffled(const Thread &self, unsigned mask, Block &block) {
  int lane = self.number & 31, source = lane;
  switch (self.kind) {
    case WEFT_SHUFFLE: source = self.argument & 31; break;
    case WEFT_SHUFFLE_UP: source = lane - self.argument < 0 ? lane : lane - self.argument; break;
    case WEFT_SHUFFLE_DOWN: source = lane + self.argument > 31 ? lane : lane + self.argument; break;
    default: source = (lane ^ self.argument) & 31; break;
  }
  if (!(mask >> source & 1)) {
    fail("shuffle: " + describe(self) + " reads lane " + std::to_string(source) +
         ", which takes no part, at " + describe_site(self.site));
  }
  return lane_of(block, self, source)->value;
}

// If all lanes that a lane waits for are there, they go on.
static void complete(Block &block, const Thread &of) {
  unsigned mask = of.mask;
  std::vector<Thread *> lanes;
  for (int lane = 0; lane < 32; lane++) {
    if (!(mask >> lane & 1)) continue;
    Thread *thread = lane_of(block, of, lane);
    if (!thread || thread->state == State::Done) {
      fail("warp: " + describe(of) + " names a lane in its mask that has ended or does not exist, at " +
           describe_site(of.site));
    }
    if (thread->state != State::Collective) return;
    lanes.push_back(thread);
  }
  unsigned ballot = 0;
  for (Thread *thread : lanes) {
    if (thread->kind != of.kind || thread->mask != mask || thread->site != of.site) {
      fail("divergent warp: lanes of " + describe(of) + " wait for each other at " +
           describe_site(of.site) + " and at " + describe_site(thread->site));
    }
    if (thread->value) ballot |= 1u << (thread->number & 31);
  }
  for (Thread *thread : lanes) {
    unsigned long long result = 0;
    switch (of.kind) {
      case WEFT_BALLOT: result = ballot; break;
      case WEFT_ANY: result = ballot != 0; break;
      case WEFT_ALL: result = ballot == mask; break;
      case WEFT_MATCH_ANY:
        for (Thread *other : lanes) {
          if (other->value == thread->value) result |= 1ull << (other->number & 31);
        }
        break;
      case WEFT_SYNCWARP: break;
      default: result = shuffled(*thread, mask, block); break;
    }
    thread->result = result;
  }
  if (of.kind == WEFT_SYNCWARP) meet(lanes);
  for (Thread *thread : lanes) make_ready(*thread);
}

extern "C" unsigned long long weft_collective(unsigned mask, int kind, unsigned long long value,
                                              int argument, int, unsigned site) {
  Thread &self = *launch->current;
  if (!(mask >> (self.number & 31) & 1)) {
    fail("warp: " + describe(self) + " is not in its own mask at " + describe_site(site));
  }
  self.mask = mask;
  self.kind = kind;
  self.value = value;
  self.argument = argument;
  self.site = site;
  self.state = State::Collective;
  complete(*self.block, self);
  stop();
  return self.result;
}

static void check_warp(Block &block, Thread &left) {
  for (int lane = 0; lane < 32; lane++) {
    Thread *thread = lane_of(block, left, lane);
    if (thread && thread->state == State::Collective && (thread->mask >> (left.number & 31) & 1)) {
      fail("warp: " + describe(left) + " ended while " + describe(*thread) + " waits for it at " +
           describe_site(thread->site));
    }
  }
}

// ---- blocks -------------------------------------------------------------------------------------

static void begin(Block &block, std::uint64_t number) {
  const dim3 &grid = launch->grid, &size = launch->block;
  block.number = static_cast<std::uint32_t>(number);
  block.index = uint3{static_cast<unsigned>(number % grid.x),
                      static_cast<unsigned>(number / grid.x % grid.y),
                      static_cast<unsigned>(number / grid.x / grid.y)};
  std::uint32_t count = size.x * size.y * size.z;
  if (block.threads.size() != count) block.threads = std::vector<Thread>(count);
  block.ready.clear();
  block.alive = count;
  block.arrived = 0;
  block.epoch = 1;
  block.known = nullptr;
  block.active = true;
  for (std::uint32_t at = 0; at < count; at++) {
    Thread &thread = block.threads[at];
    thread.block = &block;
    thread.number = static_cast<std::uint16_t>(at);
    thread.state = State::Fresh;
    thread.index = uint3{at % size.x, at / size.x % size.y, at / size.x / size.y};
    thread.clocks = Clocks{};
    block.ready.push_back(thread.number);
  }
  for (Cell &cell : block.cells) cell = Cell{};
  std::size_t shared = launch->module->shared_high - launch->module->shared_low;
  block.shared.assign(shared, 0xc5);
  launch->statistics.blocks++;
  launch->statistics.threads += count;
  trace(number);
}

// Puts the shared memory of a block into place.
static void load(Block &block) {
  if (launch->loaded == &block) return;
  Module &module = *launch->module;
  std::size_t shared = module.shared_high - module.shared_low;
  if (launch->loaded && launch->loaded->active) {
    std::memcpy(launch->loaded->shared.data(), module.shared_low, shared);
  }
  std::memcpy(module.shared_low, block.shared.data(), shared);
  launch->loaded = &block;
}

static Thread &choose(Block &block) {
  std::size_t at = 0;
  if (launch->schedule.order == Order::Random) {
    at = random_below(static_cast<std::uint32_t>(block.ready.size()));
  } else if (launch->schedule.order == Order::Descending) {
    // The greatest among those that have not begun; those that wait come in turn.
    for (std::size_t other = 0; other < block.ready.size(); other++) {
      Thread &thread = block.threads[block.ready[other]];
      if (thread.state == State::Fresh && thread.number > block.threads[block.ready[at]].number) {
        at = other;
      }
    }
  }
  Thread &thread = block.threads[block.ready[at]];
  block.ready.erase(block.ready.begin() + static_cast<std::ptrdiff_t>(at));
  return thread;
}

extern "C" {
weft_indices weft_current;
}

static void resume(Thread &thread) {
  Block &block = *thread.block;
  load(block);
  if (thread.state == State::Fresh) {
    if (launch->stacks.empty()) launch->stacks.push_back(new_stack());
    thread.stack = launch->stacks.back();
    launch->stacks.pop_back();
    thread.has_stack = true;
    prepare(thread.context, thread.stack, thread_main);
  }
  weft_current = weft_indices{thread.index, block.index, launch->block, launch->grid};
  trace((static_cast<std::uint64_t>(block.number) << 16) | thread.number);
  launch->current = &thread;
  switch_to(launch->main, thread.context);
  if (thread.state == State::Done && thread.has_stack) {
    launch->stacks.push_back(thread.stack);
    thread.has_stack = false;
  }
}

static std::string deadlock() {
  std::string text = "deadlock:";
  for (Block *block : launch->blocks) {
    if (!block->active) continue;
    for (Thread &thread : block->threads) {
      if (thread.state == State::Barrier || thread.state == State::Collective) {
        return text + " " + describe(thread) + " waits at " + describe_site(thread.site) +
               " for threads that never come";
      }
    }
  }
  return text + " no thread can run";
}

static void run_blocks() {
  auto next = [](Block &block) {
    block.active = false;
    if (launch->loaded == &block) launch->loaded = nullptr;
    if (launch->started < launch->order.size()) begin(block, launch->order[launch->started++]);
  };
  for (Block *block : launch->blocks) next(*block);
  std::size_t at = 0, run_length = 0;
  std::uint64_t resumed = 0;
  for (;;) {
    bool active = false, ready = false;
    for (Block *block : launch->blocks) {
      active |= block->active;
      ready |= block->active && !block->ready.empty();
    }
    if (!active) return;
    if (!ready) {
      launch->error = deadlock();
      return;
    }
    bool random = launch->schedule.order == Order::Random;
    if (random && run_length == 0) {
      at = random_below(static_cast<std::uint32_t>(launch->blocks.size()));
      run_length = 1 + random_below(16);
    }
    while (!launch->blocks[at]->active || launch->blocks[at]->ready.empty()) {
      at = (at + 1) % launch->blocks.size();
    }
    if (run_length) run_length--;
    Block &block = *launch->blocks[at];
    resume(choose(block));
    if (++resumed % 64 == 0) listen();
    if (!launch->error.empty()) return;
    if (block.alive == 0) next(block);
    // Blocks that wait for others must not keep them from running.
    if (!random && launch->idle) at = (at + 1) % launch->blocks.size();
  }
}

static std::vector<Stack> spare_stacks;

std::string run(Launch &wanted) {
  static std::uint32_t launches = 0;
  launch = &wanted;
  wanted.number = ++launches;
  wanted.random = wanted.schedule.seed * 0x9e3779b97f4a7c15ull + 0x1234567;
  if (!wanted.random) wanted.random = 1;
  std::uint64_t count = static_cast<std::uint64_t>(wanted.grid.x) * wanted.grid.y * wanted.grid.z;
  for (std::uint64_t block = 0; block < count; block++) wanted.order.push_back(block);
  if (wanted.schedule.order == Order::Descending) {
    std::reverse(wanted.order.begin(), wanted.order.end());
  }
  if (wanted.schedule.order == Order::Random) {
    for (std::uint64_t at = count; at > 1; at--) {
      std::swap(wanted.order[at - 1], wanted.order[random_below(static_cast<std::uint32_t>(at))]);
    }
  }
  std::vector<std::unique_ptr<Block>> blocks;
  for (std::uint64_t at = 0; at < std::min<std::uint64_t>(wanted.schedule.resident, count); at++) {
    blocks.push_back(std::make_unique<Block>());
    wanted.blocks.push_back(blocks.back().get());
  }
  wanted.stacks.swap(spare_stacks);
  if (count) run_blocks();
  for (auto &block : blocks) {
    for (Thread &thread : block->threads) {
      if (thread.has_stack) wanted.stacks.push_back(thread.stack);
    }
  }
  spare_stacks.swap(wanted.stacks);
  launch = nullptr;
  return wanted.error;
}
