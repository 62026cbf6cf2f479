#include "order.h"

#include <algorithm>

#include "machine.h"

static void learn(BlockKnowledge &to, std::uint16_t thread, std::uint32_t clock) {
  for (auto &[known, until] : to.clocks) {
    if (known == thread) {
      until = std::max(until, clock);
      return;
    }
  }
  to.clocks.emplace_back(thread, clock);
}

Known join(const Known &a, const Known &b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto joined = std::make_shared<Knowledge>(*a);
  for (const auto &[block, more] : *b) {
    BlockKnowledge &to = (*joined)[block];
    to.epoch = std::max(to.epoch, more.epoch);
    for (const auto &[thread, clock] : more.clocks) learn(to, thread, clock);
  }
  return joined;
}

Known snapshot(Thread &thread) {
  Block &block = *thread.block;
  auto taken = std::make_shared<Knowledge>();
  if (Known known = join(block.known, thread.clocks.known)) *taken = *known;
  BlockKnowledge &own = (*taken)[block.number + 1];
  own.epoch = std::max(own.epoch, block.epoch);
  std::uint32_t first = thread.number & ~31u;
  for (std::uint32_t lane = 0; lane < 32; lane++) {
    bool self = first + lane == thread.number;
    std::uint32_t clock = self ? thread.clocks.clock : thread.clocks.lanes[lane];
    if (clock) learn(own, static_cast<std::uint16_t>(first + lane), clock);
  }
  thread.clocks.clock++;
  return taken;
}

static bool knows(const Known &known, const Stamp &stamp) {
  if (!known) return false;
  auto found = known->find(stamp.block);
  if (found == known->end()) return false;
  if (stamp.epoch < found->second.epoch) return true;
  if (stamp.thread == MANY) return false;
  for (const auto &[thread, clock] : found->second.clocks) {
    if (thread == stamp.thread && stamp.clock <= clock) return true;
  }
  return false;
}

bool is_before(const Stamp &stamp, const Thread &thread) {
  const Block &block = *thread.block;
  if (stamp.block == block.number + 1) {
    if (stamp.thread == thread.number || stamp.epoch < block.epoch) return true;
    bool in_warp = stamp.thread != MANY && stamp.thread >> 5 == thread.number >> 5;
    if (in_warp && stamp.clock <= thread.clocks.lanes[stamp.thread & 31]) return true;
  }
  return knows(block.known, stamp) || knows(thread.clocks.known, stamp);
}

Stamp stamp(const Thread &thread, unsigned kind, std::uint32_t pc) {
  const Block &block = *thread.block;
  return Stamp{block.number + 1, block.epoch, thread.clocks.clock, pc, thread.number,
               static_cast<std::uint8_t>(kind)};
}

void meet(std::vector<Thread *> &lanes) {
  std::uint32_t latest[32] = {};
  Known known;
  for (Thread *thread : lanes) {
    std::uint32_t lane = thread->number & 31;
    thread->clocks.lanes[lane] = thread->clocks.clock;
    for (int at = 0; at < 32; at++) latest[at] = std::max(latest[at], thread->clocks.lanes[at]);
    known = join(known, thread->clocks.known);
  }
  for (Thread *thread : lanes) {
    std::copy(latest, latest + 32, thread->clocks.lanes);
    thread->clocks.clock++;
    thread->clocks.known = known;
  }
}
