static __attribute__((cold, noinline)) u32 KERNEL_rest(
    const struct block *restrict const block, const i64 first, const i64 count,
    const i64 *restrict const points, const bool *restrict const skip) {
  return KERNEL_group(block, first, count, points, skip);
}
static __attribute__((noinline)) u32 KERNEL_points(
    const struct block *restrict const block, const i64 *restrict const points) {
  return KERNEL_group(block, 0, GROUP, points, 0);
}
u32 KERNEL(const struct block *restrict const block) {
  i64 points[2 * GROUP];
  i64 waiting = 0;
  bool looping[GROUP];
  i64 first = 0;
  for (; first + GROUP <= block->count; first += GROUP) {
    i64 many = 0;
    if (!KERNEL_looping(block, first, GROUP, looping))
      for (i64 lane = 0; lane < GROUP; lane++) many += looping[lane];
    if (many == 0 || many > GROUP / 2) {
      const u32 failed = KERNEL_group(block, first, GROUP, 0, 0);
      if (failed) return failed;
      continue;
    }
    const u32 failed = KERNEL_rest(block, first, GROUP, 0, looping);
    if (failed) return failed;
    for (i64 lane = 0; lane < GROUP; lane++) {
      points[waiting] = first + lane;
      waiting += looping[lane];
    }
    if (waiting >= GROUP) {
      const u32 failed = KERNEL_points(block, points);
      if (failed) return failed;
      waiting -= GROUP;
      for (i64 point = 0; point < waiting; point++) points[point] = points[point + GROUP];
    }
  }
  if (waiting) {
    const u32 failed = KERNEL_rest(block, 0, waiting, points, 0);
    if (failed) return failed;
  }
  return first < block->count ? KERNEL_rest(block, first, block->count - first, 0, 0) : 0;
}
