/* What a kernel function is given. */
struct block {
  i64 count;                    /* How many lanes. */
  i64 position;                 /* The position of the first lane in the storage. */
  i64 steps;                    /* How many elements of each lane are combined. */
  const i64 *indices;           /* Per index its value, or the first lane's. */
  const i64 *const *lanes;      /* Per index that varies its lanes. */
  const void *const *arrays;    /* Per array its elements. */
  const i64 *const *strides;    /* Per array how far apart neighbours are along each dimension. */
  const void *const *inputs;    /* Per input its lanes. */
  void *const *results;         /* Per result room for the lanes. */
  const volatile u8 *cancel;    /* Not 0 when the run shall end. */
  /* Of a function that folds rows, which are counted instead of lanes; the steps are the elements of
     each. */
  i64 end;                      /* The position after the last row. */
  i64 row;                      /* The number of the first row. */
  i64 advance;                  /* 1, or 0 if all are pieces of one row. */
  const i64 *extents;           /* The extents of all dimensions but the last. */
  const i64 *offsets;           /* The positions of the rows and of the end, if their lengths differ. */
};

/* Bits that leave at the upper end come in at the lower one; fewer than there are. */
FUNCTION u32 rotate_u32(u32 a, u32 by) { return a << by | a >> (-by & 31); }
FUNCTION u64 rotate_u64(u64 a, u64 by) { return a << by | a >> (-by & 63); }
