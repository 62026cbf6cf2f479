// What happens before what: the memory model of CUDA, as far as kernels of this project need it.
//
// A stamp says which thread did something, and when by its own clock. A thread is after a stamp if a
// barrier of its block, a synchronisation of its warp, or a release and an acquire (with fences, also
// of relaxed accesses) lie between. `Knowledge` holds what a thread has acquired of other blocks.
#ifndef WEFT_ORDER_H
#define WEFT_ORDER_H
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

struct Thread;

struct Stamp {
  std::uint32_t block = 0;  // its number plus one; 0: never
  std::uint32_t epoch = 0;  // how many barriers of the block came before
  std::uint32_t clock = 0;
  std::uint32_t pc = 0;  // offset in the module
  std::uint16_t thread = 0;
  std::uint8_t kind = 0;
};

// Instead of a thread: several threads of the block, in the same epoch.
constexpr std::uint16_t MANY = 0xffff;

struct BlockKnowledge {
  std::uint32_t epoch = 0;                                       // all before this one
  std::vector<std::pair<std::uint16_t, std::uint32_t>> clocks;  // and these threads until then
};
using Knowledge = std::map<std::uint32_t, BlockKnowledge>;
using Known = std::shared_ptr<const Knowledge>;

// The clocks of a thread.
struct Clocks {
  std::uint32_t clock = 1;
  std::uint32_t lanes[32] = {};  // of its warp
  Known known;                   // acquired
  Known fenced;                  // what stores after the last fence release
  Known pending;                 // what a fence will acquire, by relaxed loads
};

Known join(const Known &a, const Known &b);
// All that is before now in this thread; its clock goes on.
Known snapshot(Thread &thread);
bool is_before(const Stamp &stamp, const Thread &thread);
Stamp stamp(const Thread &thread, unsigned kind, std::uint32_t pc);
// Lanes of one warp meet.
void meet(std::vector<Thread *> &lanes);
#endif
