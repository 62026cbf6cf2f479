/* Scans of rows. K as for reductions, and: REVERSED, start(in, row) and STARTED, FORM (0 inclusive, 1
   exclusive, 2 full), store(in, index, value). Elements are taken from the right if REVERSED, with
   the operands exchanged.

   The tree of a scan: blocks of 64 are scanned from left to right, their last values likewise, and
   every value of a block but the first is combined with what stands before the block. */

template <class K>
FUNCTION typename K::Element follow(const typename K::Arguments& in,
                                    const typename K::Element& before,
                                    const typename K::Element& next) {
  return K::REVERSED ? K::combine(in, next, before) : K::combine(in, before, next);
}

/* The position of element k of a row, and where value k of its results stands. */
template <class K> FUNCTION i64 scanned(i64 start, i64 length, i64 k) {
  return K::REVERSED ? start + length - 1 - k : start + k;
}
template <class K> FUNCTION i64 result_at(i64 row, i64 start, i64 length, i64 k) {
  if (K::FORM != 2) return scanned<K>(start, length, k);
  return start + row + (K::REVERSED ? length - k : k);
}

/* Stores value k. */
template <class K>
FUNCTION void scan_store(const typename K::Arguments& in, i64 row, i64 start, i64 length, i64 k,
                         typename K::Element value) {
  if (K::STARTED) value = follow<K>(in, K::start(in, row), value);
  const i64 to = K::FORM == 0 ? k : k + 1;
  if (K::FORM == 1 && to == length) return;
  K::store(in, result_at<K>(row, start, length, to), value);
}

/* Stores what comes before the first value. */
template <class K>
FUNCTION void scan_begin(const typename K::Arguments& in, i64 row, i64 start, i64 length) {
  if (K::FORM == 0 || (K::FORM == 1 && length == 0)) return;
  K::store(in, result_at<K>(row, start, length, 0), K::start(in, row));
}

/* A scan of elements that come one after the other. Its loops are unrolled, so that all levels stay in
   registers. */
template <class K, int LEVELS> struct Stream {
  typename K::template Array<LEVELS> local, carry;
  int taken[LEVELS];
  bool carries[LEVELS];
  FUNCTION_MEMBER void begin() {
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      taken[level] = 0;
      carries[level] = false;
    }
  }
  FUNCTION_MEMBER typename K::Element at(const typename K::Arguments& in, int level) {
    const typename K::Element own = local.get(level);
    return carries[level] ? follow<K>(in, carry.get(level), own) : own;
  }
  FUNCTION_MEMBER void take(const typename K::Arguments& in, int level, typename K::Element next) {
    local.put(level, taken[level] == 0 ? next : follow<K>(in, local.get(level), next));
    taken[level]++;
  }
  FUNCTION_MEMBER typename K::Element push(const typename K::Arguments& in,
                                           typename K::Element next) {
    take(in, 0, next);
    const typename K::Element result = at(in, 0);
#pragma unroll
    for (int level = 0; level + 1 < LEVELS; level++) {
      if (taken[level] < TREE) continue;
      taken[level] = 0;
      take(in, level + 1, local.get(level));
      carry.put(level, at(in, level + 1));
      carries[level] = true;
    }
    return result;
  }
};

/* Short rows: a thread per row. */
template <class K, int LEVELS>
FUNCTION void scan_rows(const typename K::Arguments& in, Rows rows) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 row = (i64)blockIdx.x * K::THREADS + threadIdx.x; row < rows.count; row += stride) {
    const i64 start = row_start(rows, row), length = row_length(rows, row);
    Stream<K, LEVELS> stream;
    stream.begin();
    scan_begin<K>(in, row, start, length);
#pragma unroll 1
    for (i64 k = 0; k < length; k++) {
      const typename K::Element next = K::element(in, row, scanned<K>(start, length, k));
      scan_store<K>(in, row, start, length, k, stream.push(in, next));
      /* Ragged rows are short on average only. */
      if ((k & 1023) == 1023 && is_over(in.failure)) return;
    }
    if (is_over_by(in.failure, turn)) return;
  }
}

/* Rows of one length of which several are staged together, as in reduce_groups; they have elements. A thread scans 64
   elements of a row, then one the last values of a row's blocks, and what stands before its block is combined with each
   value when it is stored. K as above, and: STAGED. */
template <class K>
FUNCTION void scan_groups(const typename K::Arguments& in, Rows rows, const Divisor& by, u32 group) {
  __shared__ typename K::template Array<K::STAGED / TREE * (TREE + 1)> staged;
  __shared__ typename K::template Array<2 * K::STAGED / TREE> lasts;  /* of blocks, if rows have several */
  const i64 first_row = (i64)blockIdx.x * group, first = first_row * rows.length;
  const int length = (int)rows.length, here = (int)smaller(rows.count - first_row, group);
  const int count = here * length, blocks = (length + TREE - 1) / TREE;
  if constexpr (!K::REVERSED) {
    stage_elements<K>(in, staged, RowOfGroup{first, first_row, by}, first, count);
  } else {
#pragma unroll 1
    for (int at = threadIdx.x; at < count; at += K::THREADS) {
      const int row = quotient(at, by), k = at - row * length;
      const i64 from = scanned<K>(first + row * length, length, k);
      staged.put(staged_at(at), K::element(in, first_row + row, from));
    }
  }
  __syncthreads();  /* staged group to scan */
#pragma unroll 1
  for (int number = threadIdx.x; number < here * blocks; number += K::THREADS) {
    const int row = (int)((u32)number / (u32)blocks), block = number - row * blocks;
    const int from = row * length + block * TREE;
    const int ends = length - block * TREE < TREE ? length - block * TREE : TREE;
    typename K::Element value = staged.get(staged_at(from));
#pragma unroll 1
    for (int at = from + 1; at < from + ends; at++) {
      value = follow<K>(in, value, staged.get(staged_at(at)));
      staged.put(staged_at(at), value);
    }
    if (blocks > 1) lasts.put(number, value);
  }
  __syncthreads();  /* scanned blocks */
#pragma unroll 1
  for (int row = threadIdx.x; row < here; row += K::THREADS) {
    scan_begin<K>(in, first_row + row, first + row * length, length);
    if (blocks == 1) continue;
    typename K::Element value = lasts.get(row * blocks);
#pragma unroll 1
    for (int number = row * blocks + 1; number < (row + 1) * blocks - 1; number++) {
      value = follow<K>(in, value, lasts.get(number));
      lasts.put(number, value);
    }
  }
  __syncthreads();  /* scanned lasts */
#pragma unroll 1
  for (int at = threadIdx.x; at < count; at += K::THREADS) {
    const int row = quotient(at, by), k = at - row * length;
    typename K::Element value = staged.get(staged_at(at));
    if (k >= TREE) value = follow<K>(in, lasts.get(row * blocks + k / TREE - 1), value);
    scan_store<K>(in, first_row + row, first + row * length, length, k, value);
  }
}

template <class K> struct ScanMemory {
  typename K::template Array<slice<K>() * (TREE + 1)> staged;
  typename K::template Array<TREE> blocks;  /* the last values of the blocks, scanned */
  typename K::template Array<2> before;     /* what stands before the tile */
};

/* So many levels of the tree are looked at together, by a warp each: more than four are only there beyond 2^36
   elements. */
template <class K> FUNCTION constexpr int looked_at() {
  int levels = K::THREADS >= 4 * 32 ? 4 : K::THREADS / 32;
  while (levels > 1 && levels * TREE * (int)sizeof(typename K::Element) > 8192) levels /= 2;
  return levels;
}

template <class K> struct LookMemory {
  typename K::template Array<looked_at<K>() * TREE> looked;  /* what other tiles have published */
  /* What those of a level come to; then of the lowest level that has several what all but the last come to, and the last. */
  typename K::template Array<LEVELS + 3> all;
};
constexpr int FEWER = LEVELS + 1, LAST = LEVELS + 2;

/* Elements of a slice of a tile, staged. */
template <class K>
FUNCTION void stage(const typename K::Arguments& in, ScanMemory<K>& memory, i64 row, i64 start,
                    i64 length, i64 first, int here) {
  if constexpr (!K::REVERSED) {
    stage_elements<K>(in, memory.staged, OneRow{row}, start + first, here);
  } else {
#pragma unroll 1
    for (int at = threadIdx.x; at < here; at += K::THREADS) {
      memory.staged.put(staged_at(at), K::element(in, row, scanned<K>(start, length, first + at)));
    }
  }
}

/* How many steps of a fold are written out. It goes from left to right, in the order of the tree; so the loads of a few
   steps from shared memory, some 30 cycles each, are under way together, and only the operators wait for each other.
   More take the compiler longer, wide elements registers. */
template <class K> FUNCTION constexpr int ahead() { return sizeof(typename K::Element) <= 16 ? 4 : 1; }

/* The first half: the tile's blocks on their own, and the scan of their last values. Yields in thread
   0 what the tile comes to. */
template <class K>
FUNCTION typename K::Element scan_up(const typename K::Arguments& in, ScanMemory<K>& memory,
                                     i64 row, i64 start, i64 length, i64 first, int count) {
  constexpr int SLICE = slice<K>() * TREE;
#pragma unroll 1
  for (int base = 0; base < slices_end<K>(count); base += SLICE) {
    const int here = count - base < SLICE ? count - base : SLICE;
    stage<K>(in, memory, row, start, length, first + base, here);
    __syncthreads();  /* staged */
#pragma unroll 1
    for (int block = threadIdx.x; block * TREE < here; block += K::THREADS) {
      const int from = block * (TREE + 1);
      const int ends = here - block * TREE < TREE ? here - block * TREE : TREE;
      typename K::Element value = memory.staged.get(from);
#pragma unroll (ahead<K>())
      for (int at = 1; at < ends; at++) {
        value = follow<K>(in, value, memory.staged.get(from + at));
      }
      memory.blocks.put(base / TREE + block, value);
    }
    __syncthreads();  /* folded */
  }
  typename K::Element value = memory.blocks.get(0);
  if (threadIdx.x == 0) {
    const int blocks = (count + TREE - 1) / TREE;
#pragma unroll (ahead<K>())
    for (int block = 1; block < blocks; block++) {
      value = follow<K>(in, value, memory.blocks.get(block));
      memory.blocks.put(block, value);
    }
  }
  return value;
}

/* The second half. `before` 0 is what stands before the tile's first block, if `carried`; `before` 1
   what its blocks' last values are combined with. For the first tile there is neither. */
template <class K>
FUNCTION void scan_down(const typename K::Arguments& in, ScanMemory<K>& memory, i64 row, i64 start,
                        i64 length, i64 first, int count, bool carried) {
  constexpr int SLICE = slice<K>() * TREE;
#pragma unroll 1
  for (int base = 0; base < slices_end<K>(count); base += SLICE) {
    const int here = count - base < SLICE ? count - base : SLICE;
    if constexpr (SLICE < TILE) {
      if (count > SLICE) {
        stage<K>(in, memory, row, start, length, first + base, here);
        __syncthreads();  /* staged again */
      }
    }
#pragma unroll 1
    for (int block = threadIdx.x; block * TREE < here; block += K::THREADS) {
      const int from = block * (TREE + 1), number = base / TREE + block;
      const int ends = here - block * TREE < TREE ? here - block * TREE : TREE;
      const bool combines = carried || number > 0;
      typename K::Element carry = K::zero();
      if (number > 0) {
        carry = memory.blocks.get(number - 1);
        if (carried) carry = follow<K>(in, memory.before.get(1), carry);
      } else if (carried) {
        carry = memory.before.get(0);
      }
      typename K::Element value = memory.staged.get(from);
#pragma unroll (ahead<K>())
      for (int at = 0; at < ends; at++) {
        if (at > 0) value = follow<K>(in, value, memory.staged.get(from + at));
        memory.staged.put(from + at, combines ? follow<K>(in, carry, value) : value);
      }
    }
    __syncthreads();  /* scanned */
#pragma unroll 1
    for (int at = threadIdx.x; at < here; at += K::THREADS) {
      scan_store<K>(in, row, start, length, first + base + at, memory.staged.get(staged_at(at)));
    }
    __syncthreads();  /* staged is free */
  }
}

/* What tiles publish: for each row the values of its tiles, then of every 64 tiles, and so on, each
   with a flag that is 0 before. */
template <class K> struct Published {
  typename K::Scratch values;
  u32* flags;
  i64 per_row;
};

/* Publishes a value of a level. */
template <class K>
FUNCTION void publish(const Published<K>& published, i64 at, const typename K::Element& value) {
  published.values.put(at, value);
  store_release(published.flags + at, 1u);
}

/* What the tiles before one come to: of each level of the tree those that are not part of one of the next. Looks at
   published values only, never at prefixes of other tiles: so the bracketing does not depend on which tile was first, and
   no tile waits for a chain of others. All levels are waited for together; but the last tile of each 64 publishes what they
   come to, which is `value` behind those before, and the last of each 64 of these likewise, before it waits for more.
   Yields the highest level; `low` is the lowest one that has several values, or beyond it. */
template <class K>
FUNCTION int look_back(const typename K::Arguments& in, LookMemory<K>& memory,
                       const Published<K>& published, i64 row, u32 tiles, u32 tile,
                       typename K::Element value, int& low) {
  constexpr int TOGETHER = looked_at<K>();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  i64 base = row * published.per_row;
  u32 count = tiles;
  int at = (int)tile - 1;
  /* The number of a node that this tile is the last one of, as long as it is. */
  u32 closed = tile;
  int level = 0;
  low = LEVELS + 1;
#pragma unroll 1
  while (true) {
    /* The level of this warp, and how many values are looked at there. */
    const bool closes = closed % TREE == TREE - 1;
    int own = -1, values = 0, levels = 0;
    i64 from = 0;
#pragma unroll 1
    for (; levels < (closes ? 1 : TOGETHER) && at >= 0; levels++) {
      const int group = (int)((u32)at / TREE), here = at - group * TREE + 1;
      if (levels == warp) {
        own = level + levels;
        values = here;
        from = base + group * TREE;
      }
      if (here > 1 && level + levels < low) low = level + levels;
      base += count;
      count = (count + TREE - 1) / TREE;
      at = group - 1;
    }
#pragma unroll 1
    for (int each = lane; each < values; each += 32) {
      while (load_acquire(published.flags + from + each) == 0) __nanosleep(32);
      memory.looked.put(warp * TREE + each, published.values.get(from + each));
    }
    __syncthreads();  /* looked */
    if (own >= 0 && lane == 0) {
      typename K::Element all = memory.looked.get(warp * TREE);
#pragma unroll (ahead<K>())
      for (int each = 1; each < values - 1; each++) {
        all = follow<K>(in, all, memory.looked.get(warp * TREE + each));
      }
      if (values > 1) {
        const typename K::Element last = memory.looked.get(warp * TREE + values - 1);
        if (own == low) {
          memory.all.put(FEWER, all);
          memory.all.put(LAST, last);
        }
        all = follow<K>(in, all, last);
      }
      memory.all.put(own, all);
      if (closes) {
        value = follow<K>(in, all, value);
        publish<K>(published, base + closed / TREE, value);
      }
    }
    if (closes) closed /= TREE;
    else closed = 0;
    __syncthreads();  /* looked is free */
    level += levels;
    if (at < 0) return level - 1;
  }
}

/* The scanned value of the last of these tiles. */
template <class K>
FUNCTION typename K::Element looked_value(const typename K::Arguments& in, const LookMemory<K>& memory,
                                          int top) {
  typename K::Element value = memory.all.get(top);
#pragma unroll 1
  for (int level = top - 1; level >= 0; level--) value = follow<K>(in, value, memory.all.get(level));
  return value;
}

/* The scanned value of the tile before the last one, followed by what the last one comes to. Where a level has no value
   but the one that is left out, the 64 of the next level's last value stand there instead. */
template <class K>
FUNCTION typename K::Element looked_value_of_last(const typename K::Arguments& in,
                                                  const LookMemory<K>& memory, int top, int low) {
  typename K::Element value = K::zero();
  bool any = false;
#pragma unroll 1
  for (int level = low > top ? top - 1 : top; level >= 0; level--) {
    const int from = level > low ? level : level == low ? FEWER : level + 1 == low ? LAST : level + 1;
    const typename K::Element next = memory.all.get(from);
    value = any ? follow<K>(in, value, next) : next;
    any = true;
  }
  const typename K::Element last = memory.all.get(low == 0 ? LAST : 0);
  return any ? follow<K>(in, value, last) : last;
}

/* Long rows of one length, in one pass: tiles are handed out by a ticket, in order. */
template <class K>
FUNCTION void scan_tiles(const typename K::Arguments& in, Rows rows, u32 tiles,
                         Published<K> published, u32* ticket) {
  __shared__ ScanMemory<K> memory;
  __shared__ LookMemory<K> looks;
  __shared__ u32 number;
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();  /* ticket */
  const u32 row_number = number / tiles;
  const i64 row = row_number, tile = number - row_number * tiles;
  const i64 start = row * rows.length, first = tile * TILE;
  const int count = (int)smaller(rows.length - first, TILE);
  typename K::Element value = scan_up<K>(in, memory, row, start, rows.length, first, count);
  if (threadIdx.x == 0) {
    publish<K>(published, row * published.per_row + tile, value);
    if (tile == 0) scan_begin<K>(in, row, start, rows.length);
  }
  if (tile > 0) {
    int low;
    const int top = look_back<K>(in, looks, published, row, tiles, (u32)tile, value, low);
    if (threadIdx.x == 0) {
      memory.before.put(1, looked_value<K>(in, looks, top));
      memory.before.put(0, looked_value_of_last<K>(in, looks, top, low));
    }
  }
  __syncthreads();  /* before */
  scan_down<K>(in, memory, row, start, rows.length, first, count, tile > 0);
}

/* Rows of any length: a block of threads per row, tile after tile. */
template <class K> FUNCTION void scan_blocks(const typename K::Arguments& in, Rows rows) {
  __shared__ ScanMemory<K> memory;
  __shared__ Stream<K, LEVELS + 1> stream;  /* thread 0's */
  u32 turn = 0;
#pragma unroll 1
  for (i64 row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const i64 start = row_start(rows, row), length = row_length(rows, row);
    if (threadIdx.x == 0) {
      stream.begin();
      scan_begin<K>(in, row, start, length);
    }
    /* The scanned values of the tile before, and of the one before that. */
    typename K::Element earlier = K::zero(), earliest = K::zero(), last = K::zero();
#pragma unroll 1
    for (i64 first = 0; first < length; first += TILE) {
      const int count = (int)smaller(TILE, length - first);
      typename K::Element value = scan_up<K>(in, memory, row, start, length, first, count);
      if (threadIdx.x == 0) {
        if (first > 0) {
          memory.before.put(1, earlier);
          memory.before.put(0, first > TILE ? follow<K>(in, earliest, last) : last);
        }
        earliest = earlier;
        earlier = stream.push(in, value);
        last = value;
      }
      __syncthreads();  /* before */
      scan_down<K>(in, memory, row, start, length, first, count, first > 0);
      if ((++turn & 15) == 0 && is_over_for_all(in.failure)) return;
    }
  }
}
