// What CUB takes for the programs that it has: medians of 30 runs, by events, over three inputs in turn.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}

template <class T> static T* room(std::size_t count) {
  T* address = nullptr;
  check(cudaMalloc(&address, count * sizeof(T)));
  return address;
}

__global__ void fill(float* numbers, int* integers, long long count, unsigned seed) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  unsigned word = (unsigned)at * 2654435761u + seed * 40503u;
  word = (word ^ (word >> 16)) * 0x45d9f3bu;
  word = (word ^ (word >> 16)) * 0x45d9f3bu;
  word ^= word >> 16;
  if (numbers) numbers[at] = (word >> 8) * (1.0f / 16777216.0f);
  if (integers) integers[at] = (int)word;
}

// What is cleared before each run: the caches hold nothing of the inputs then, and the host is ahead of the device. An
// eighth of it is read behind that: the caches have nothing left then that is not in memory.
static float* flushed;
static std::size_t flush;

__global__ void read_words(float* words, long long from) {
  const long long at = from + blockIdx.x * (long long)blockDim.x + threadIdx.x;
  // Never so: it keeps the loads.
  if (words[at] != 0.0f) words[0] = words[at];
}

// Each call is `run(storage, bytes, set)`; without storage it says how many bytes it needs.
static void timed(const char* name, const std::function<cudaError_t(void*, std::size_t&, int)>& run) {
  std::size_t bytes = 0;
  check(run(nullptr, bytes, 0));
  void* storage = room<char>(bytes);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int turn = -3; turn < 30; turn++) {
    check(cudaMemsetAsync(flushed, 0, flush));
    read_words<<<(unsigned)(flush / 32 / 256), 256>>>(flushed, (long long)(flush / 8));
    check(cudaEventRecord(begin));
    check(run(storage, bytes, (turn + 3) % 3));
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (turn >= 0) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\t%.4f\n", name, times[times.size() / 2]);
  check(cudaFree(storage));
}

struct Above {
  __host__ __device__ bool operator()(float value) const { return value > 0.5f; }
};

int main(int count, char** arguments) {
  if (count != 4) return 2;
  flush = std::atoll(arguments[3]);
  flushed = room<float>(flush / sizeof(float));
  const long long many = std::atoll(arguments[1]), keys = std::atoll(arguments[2]);
  float *in[3], *out = room<float>(many);
  int *integers[3], *sorted = room<int>(keys), *bins = room<int>(256);
  long long* kept = room<long long>(1);
  for (unsigned set = 0; set < 3; set++) {
    in[set] = room<float>(many);
    integers[set] = room<int>(keys);
    fill<<<(unsigned)((many + 255) / 256), 256>>>(in[set], nullptr, many, set);
    fill<<<(unsigned)((keys + 255) / 256), 256>>>(nullptr, integers[set], keys, set);
  }
  check(cudaDeviceSynchronize());
  timed("prefix sum", [&](void* storage, std::size_t& bytes, int set) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, in[set], out, many);
  });
  timed("filter", [&](void* storage, std::size_t& bytes, int set) {
    return cub::DeviceSelect::If(storage, bytes, in[set], out, kept, many, Above());
  });
  timed("histogram", [&](void* storage, std::size_t& bytes, int set) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, in[set], bins, 257, 0.0f, 1.0f, many);
  });
  timed("sort", [&](void* storage, std::size_t& bytes, int set) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, integers[set], sorted, keys);
  });
  return 0;
}
