// The emulated device as a process: requests come on standard input, answers go to standard output.
//
// Every request begins with one byte that says what it is. Every answer is a byte (0: done, 1: failed),
// a length, and so many bytes: what was asked for, or a message. Only pokes have no answer.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <poll.h>
#include <unistd.h>

#include "machine.h"

static std::vector<std::unique_ptr<Module>> modules;

// ---- the stream ---------------------------------------------------------------------------------

static void take(void *to, std::size_t bytes) {
  if (std::fread(to, 1, bytes, stdin) != bytes) std::exit(0);
}
template <class T> static T take() {
  T value;
  take(&value, sizeof value);
  return value;
}
static std::string take_text() {
  std::string text(take<std::uint32_t>(), '\0');
  take(text.data(), text.size());
  return text;
}
static void answer(bool done, const void *data, std::uint64_t bytes) {
  std::uint8_t failed = done ? 0 : 1;
  std::fwrite(&failed, 1, 1, stdout);
  std::fwrite(&bytes, 1, sizeof bytes, stdout);
  std::fwrite(data, 1, bytes, stdout);
  std::fflush(stdout);
}
static void refuse(const std::string &message) { answer(false, message.data(), message.size()); }

// ---- modules ------------------------------------------------------------------------------------

std::string describe_pc(const Module &module, std::uint32_t pc) {
  char command[4200];
  std::snprintf(command, sizeof command, "addr2line -e '%s' 0x%x 2>/dev/null", module.path.c_str(),
                pc - 1);
  std::string line = "an unknown line";
  if (FILE *pipe = popen(command, "r")) {
    char text[1000];
    if (std::fgets(text, sizeof text, pipe)) {
      std::string found = text;
      std::size_t colon = found.rfind(':');
      if (colon != std::string::npos && found[colon + 1] != '?') {
        line = "line " + std::to_string(std::atoi(found.c_str() + colon + 1));
      }
    }
    pclose(pipe);
  }
  return line;
}

static int locate(dl_phdr_info *info, std::size_t, void *data) {
  Module &module = *static_cast<Module *>(data);
  if (!info->dlpi_name || module.path != info->dlpi_name) return 0;
  for (int at = 0; at < info->dlpi_phnum; at++) {
    const auto &header = info->dlpi_phdr[at];
    auto *low = reinterpret_cast<std::uint8_t *>(info->dlpi_addr + header.p_vaddr);
    if (header.p_type == PT_LOAD) {
      if (!module.low) module.low = low;
      module.high = low + header.p_memsz;
    }
    if (header.p_type == PT_TLS) {
      module.shared_low = static_cast<std::uint8_t *>(info->dlpi_tls_data);
      module.shared_high = module.shared_low + header.p_memsz;
    }
  }
  return 1;
}

static void load_module() {
  auto module = std::make_unique<Module>();
  module->path = take_text();
  module->handle = dlopen(module->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) return refuse(dlerror());
  auto anchor = reinterpret_cast<void *(*)()>(dlsym(module->handle, "weft_shared_anchor"));
  if (anchor) anchor();
  dl_iterate_phdr(locate, module.get());
  std::uint64_t number = modules.size();
  modules.push_back(std::move(module));
  answer(true, &number, sizeof number);
}

// ---- launches -----------------------------------------------------------------------------------

static void launch_kernel() {
  std::uint64_t number = take<std::uint64_t>();
  std::string kernel = take_text();
  Launch wanted;
  wanted.grid = take<dim3>();
  wanted.block = take<dim3>();
  wanted.schedule.order = static_cast<Order>(take<std::uint32_t>());
  wanted.schedule.resident = take<std::uint32_t>();
  wanted.schedule.preempt = take<std::uint32_t>();
  wanted.schedule.seed = take<std::uint64_t>();
  wanted.schedule.patience = take<std::uint64_t>();
  std::uint32_t count = take<std::uint32_t>();
  std::vector<std::vector<std::uint8_t>> arguments(count);
  std::vector<void *> pointers;
  for (auto &argument : arguments) {
    argument.resize(take<std::uint32_t>());
    take(argument.data(), argument.size());
    pointers.push_back(argument.data());
  }
  if (number >= modules.size()) return refuse("there is no such module");
  wanted.module = modules[number].get();
  auto symbol = [&](const char *prefix) {
    return dlsym(wanted.module->handle, (prefix + kernel).c_str());
  };
  wanted.entry = reinterpret_cast<void (*)(void **)>(symbol("weft_entry_"));
  auto expected = reinterpret_cast<unsigned (*)()>(symbol("weft_count_"));
  auto sizes = reinterpret_cast<void (*)(unsigned *)>(symbol("weft_sizes_"));
  if (!wanted.entry || !expected || !sizes) return refuse("there is no kernel " + kernel);
  std::vector<unsigned> bytes(expected());
  sizes(bytes.data());
  if (bytes.size() != count) return refuse(kernel + " takes another number of arguments");
  for (std::uint32_t at = 0; at < count; at++) {
    if (bytes[at] != arguments[at].size()) {
      return refuse("argument " + std::to_string(at) + " of " + kernel + " has " +
                    std::to_string(bytes[at]) + " bytes, not " +
                    std::to_string(arguments[at].size()));
    }
  }
  std::uint64_t threads = std::uint64_t{wanted.block.x} * wanted.block.y * wanted.block.z;
  std::size_t shared = wanted.module->shared_high - wanted.module->shared_low;
  if (threads == 0 || threads > 1024) return refuse("a block has 1 to 1024 threads");
  if (!wanted.grid.x || !wanted.grid.y || !wanted.grid.z) return refuse("the grid has no blocks");
  if (wanted.grid.x > 0x7fffffff) return refuse("the grid is too large");
  if (wanted.grid.y > 65535 || wanted.grid.z > 65535) return refuse("the grid is too large");
  if (!wanted.schedule.resident) return refuse("at least one block is resident");
  wanted.arguments = pointers.data();
  std::string error = run(wanted);
  if (!error.empty()) return refuse(error);
  const Statistics &all = wanted.statistics;
  std::uint64_t late = all.poked == NEVER_POKED ? NEVER_POKED : all.accesses - all.poked;
  std::uint64_t statistics[] = {all.blocks,   all.threads, all.switches, all.accesses,
                                all.barriers, all.trace,   shared,       late};
  answer(true, statistics, sizeof statistics);
}

// ---- memory -------------------------------------------------------------------------------------

static Buffer *range(std::uint64_t address, std::uint64_t bytes) {
  Buffer *buffer = find_buffer(reinterpret_cast<std::uint8_t *>(address));
  if (!buffer) return nullptr;
  std::uint64_t at = reinterpret_cast<std::uint8_t *>(address) - buffer->low;
  return bytes <= buffer->bytes - at ? buffer : nullptr;
}

static void mark(Buffer &buffer, std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t at = reinterpret_cast<std::uint8_t *>(address) - buffer.low;
  for (std::uint64_t byte = at; byte < at + bytes; byte++) buffer.written[byte] = true;
}

static void allocate() {
  auto bytes = take<std::uint64_t>();
  auto element = take<std::uint32_t>();
  Buffer &buffer = new_buffer(bytes ? bytes : 1, element, take_text());
  auto address = reinterpret_cast<std::uint64_t>(buffer.low);
  answer(true, &address, sizeof address);
}

static void write() {
  auto address = take<std::uint64_t>();
  auto bytes = take<std::uint64_t>();
  Buffer *buffer = range(address, bytes);
  if (!buffer) {
    std::vector<std::uint8_t> ignored(bytes);
    take(ignored.data(), bytes);
    return refuse("the host writes beyond a buffer");
  }
  take(reinterpret_cast<void *>(address), bytes);
  mark(*buffer, address, bytes);
  answer(true, nullptr, 0);
}

static void read() {
  auto address = take<std::uint64_t>();
  auto bytes = take<std::uint64_t>();
  Buffer *buffer = range(address, bytes);
  if (!buffer) return refuse("the host reads beyond a buffer");
  std::uint64_t at = reinterpret_cast<std::uint8_t *>(address) - buffer->low;
  for (std::uint64_t byte = at; byte < at + bytes; byte++) {
    if (!buffer->written[byte]) {
      return refuse("uninitialised: the host reads byte " + std::to_string(byte) + " of `" +
                    buffer->name + "`, which nobody wrote");
    }
  }
  answer(true, reinterpret_cast<void *>(address), bytes);
}

static void copy() {
  auto to = take<std::uint64_t>(), from = take<std::uint64_t>(), bytes = take<std::uint64_t>();
  Buffer *target = range(to, bytes), *source = range(from, bytes);
  if (!target || !source) return refuse("the host copies beyond a buffer");
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  std::uint64_t target_at = reinterpret_cast<std::uint8_t *>(to) - target->low;
  std::uint64_t source_at = reinterpret_cast<std::uint8_t *>(from) - source->low;
  for (std::uint64_t byte = 0; byte < bytes; byte++) {
    target->written[target_at + byte] = source->written[source_at + byte];
  }
  answer(true, nullptr, 0);
}

static void fill() {
  auto address = take<std::uint64_t>(), bytes = take<std::uint64_t>();
  auto value = take<std::uint8_t>();
  Buffer *buffer = range(address, bytes);
  if (!buffer) return refuse("the host fills beyond a buffer");
  std::memset(reinterpret_cast<void *>(address), value, bytes);
  mark(*buffer, address, bytes);
  answer(true, nullptr, 0);
}

// Four bytes that the host changes without being answered, also while a kernel runs.
static void poke() {
  auto address = take<std::uint64_t>();
  auto value = take<std::uint32_t>();
  Buffer *buffer = range(address, sizeof value);
  if (!buffer) return;
  *reinterpret_cast<volatile std::uint32_t *>(address) = value;
  mark(*buffer, address, sizeof value);
}

void listen() {
  pollfd host = {0, POLLIN, 0};
  while (poll(&host, 1, 0) > 0 && (host.revents & POLLIN)) {
    if (take<std::uint8_t>() != 'p') std::exit(1);
    poke();
    Statistics &all = launch->statistics;
    if (all.poked == NEVER_POKED) all.poked = all.accesses;
  }
}

int main() {
  // What has come while a kernel runs is looked for where it comes from: it must not be in a buffer of this process.
  std::setvbuf(stdin, nullptr, _IONBF, 0);
  for (;;) {
    switch (take<std::uint8_t>()) {
      case 'm': load_module(); break;
      case 'l': launch_kernel(); break;
      case 'a': allocate(); break;
      case 'f': {
        free_buffer(take<std::uint64_t>());
        answer(true, nullptr, 0);
        break;
      }
      case 'w': write(); break;
      case 'r': read(); break;
      case 'c': copy(); break;
      case 's': fill(); break;
      case 'p': poke(); break;
      default: refuse("an unknown request"); return 1;
    }
  }
}
