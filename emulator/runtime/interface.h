// What kernels and the machine that runs them know of each other. Included by both sides, so it needs
// no standard header.
#ifndef WEFT_INTERFACE_H
#define WEFT_INTERFACE_H

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };

// The built-in variables of the thread that runs.
struct weft_indices {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};

// What an access does (two bits), and how it is ordered.
enum weft_access_kind : unsigned {
  WEFT_READ = 0,
  WEFT_WRITE = 1,
  WEFT_UPDATE = 2,   // read, modify, write
  WEFT_ATOMIC = 4,   // never half done, and no race with other atomic accesses
  WEFT_ACQUIRE = 8,
  WEFT_RELEASE = 16,
};

enum weft_barrier_kind { WEFT_BARRIER, WEFT_BARRIER_COUNT, WEFT_BARRIER_AND, WEFT_BARRIER_OR };

enum weft_collective_kind {
  WEFT_SHUFFLE, WEFT_SHUFFLE_UP, WEFT_SHUFFLE_DOWN, WEFT_SHUFFLE_XOR,
  WEFT_BALLOT, WEFT_ANY, WEFT_ALL, WEFT_MATCH_ANY, WEFT_SYNCWARP,
};

extern "C" {
// Waits for all threads of the block; yields what they say together. `site` tells calls apart:
// its low 16 bits are the source line.
int weft_barrier(int kind, int predicate, unsigned site);
// Waits for the lanes of the mask; yields what this lane gets.
unsigned long long weft_collective(unsigned mask, int kind, unsigned long long value, int argument,
                                   int width, unsigned site);
// To be called right before an atomic or ordered access: other threads may run now.
void weft_ordered(const volatile void *address, unsigned size, unsigned kind, const void *pc);
// After an update: whether it changed anything. One that did not may be part of a loop that waits.
void weft_updated(int changed);
// A memory fence: of the block, or of the device.
void weft_fence(int device);
// This thread waits for others.
void weft_wait(void);
// Ends the launch with a message.
void weft_fail(const char *message, unsigned line);
}

#endif
