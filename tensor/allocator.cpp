// The caching allocator. A size class is a power of two or one of three steps between two of them, so at most
// a quarter of a block is unused.
#include "tensor/allocator.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cuda/accesses.h"
#include "cuda/products.h"
#include "cuda/runtime.h"

namespace rondo {
namespace {

constexpr size_t alignment = 64;

struct Pool {
  std::mutex mutex;
  std::map<size_t, std::vector<void*>> free_blocks;
  bool in_step = false;
  std::map<size_t, std::vector<void*>> free_step_blocks;
  std::unordered_map<void*, size_t> step_blocks;  // all of them, with their sizes
  int64_t step_memory_returns = 0;
  MemoryStatistics statistics;
};

/// Never destroyed: tensors in static storage may outlive any other static object.
Pool& pool_of(Device device) {
  static auto* pools = new std::array<Pool, 4>;
  return (*pools)[static_cast<size_t>(device)];
}

size_t size_class(size_t bytes) {
  if (bytes <= 4 * alignment) return (bytes + alignment - 1) / alignment * alignment;
  const size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

/// Large blocks request huge pages, if the system has them: fewer TLB misses, and one page fault per 2 MiB.
void* host_block(size_t bytes) {
  constexpr size_t huge_page = size_t{2} << 20;
  if (bytes < 2 * huge_page) return std::aligned_alloc(alignment, bytes);
  const size_t whole_pages = (bytes + huge_page - 1) / huge_page * huge_page;
  void* block = std::aligned_alloc(huge_page, whole_pages);
  if (block) madvise(block, whole_pages, MADV_HUGEPAGE);  // only a hint: if it fails, pages are small
  return block;
}

/// An address that no other block has, and that no access survives; null after an exbibyte.
void* address_without_memory(size_t bytes) {
  constexpr size_t first = size_t{1} << 62, all = size_t{1} << 60;
  static std::atomic<size_t> used = 0;
  if (bytes > all - std::min<size_t>(used, all)) return nullptr;
  return reinterpret_cast<void*>(first + used.fetch_add(bytes));
}

void* system_block(Device device, size_t bytes) {
  if (!has_memory(device)) return address_without_memory(bytes);
  return device == Device::cpu ? host_block(bytes) : cuda::system_block(bytes);
}
void free_system_block(Device device, void* block) {
  if (device == Device::cpu)
    std::free(block);
  else if (device == Device::cuda)
    cuda::free_system_block(block);
}

/// Returns all free blocks to the system. Graphs that were recorded in step memory write blocks of it that
/// are free now: StepMemory::returns.
void return_free_blocks(Device device, Pool& pool) {
  for (auto& [size, blocks] : pool.free_blocks) {
    for (void* block : blocks) free_system_block(device, block);
    blocks.clear();
  }
  for (auto& [size, blocks] : pool.free_step_blocks) {
    for (void* block : blocks) {
      free_system_block(device, block);
      pool.step_blocks.erase(block);
      ++pool.step_memory_returns;
    }
    blocks.clear();
  }
}

/// A block from the system; null if it has no memory left.
void* new_block(Device device, Pool& pool, size_t bytes) {
  void* block = system_block(device, bytes);
  const bool frees = device != Device::cuda || !cuda::recording();  // no driver frees while it records
  if (block == nullptr && frees) {  // returning free blocks of other sizes may help
    return_free_blocks(device, pool);
    block = system_block(device, bytes);
  }
  if (block) ++pool.statistics.system_allocations;
  return block;
}

void* take(std::vector<void*>& blocks) {
  void* block = blocks.back();
  blocks.pop_back();
  return block;
}
/// The one that was released first: launches on branches of a graph wait for those that used their memory.
void* take_oldest(std::vector<void*>& blocks) {
  void* block = blocks.front();
  blocks.erase(blocks.begin());
  return block;
}

/// Steps have different lengths, so a block may be up to twice as large as requested.
void* free_step_block(Pool& pool, size_t bytes) {
  for (auto it = pool.free_step_blocks.lower_bound(bytes);
       it != pool.free_step_blocks.end() && it->first <= 2 * bytes; ++it)
    if (!it->second.empty()) return cuda::notes_accesses ? take_oldest(it->second) : take(it->second);
  return nullptr;
}

}  // namespace

StepMemory::StepMemory(Device device) : device_(device) {
  check(!pool_of(device).in_step, "[allocate] a step within a step");
  pool_of(device).in_step = true;
}
StepMemory::~StepMemory() { pool_of(device_).in_step = false; }
bool StepMemory::exists(Device device) { return pool_of(device).in_step; }
int64_t StepMemory::returns(Device device) { return pool_of(device).step_memory_returns; }

void* allocate(Device device, size_t bytes) {
  Pool& pool = pool_of(device);
  size_t block_bytes = size_class(bytes ? bytes : 1);
  const std::lock_guard lock(pool.mutex);
  void* block = nullptr;
  if (pool.in_step) {
    block = free_step_block(pool, block_bytes);
  } else if (std::vector<void*>& blocks = pool.free_blocks[block_bytes]; !blocks.empty()) {
    block = take(blocks);
  }
  if (!block) {
    block = new_block(device, pool, block_bytes);
    if (!block)
      throw OutOfMemory(fmt::format("[allocate] no memory{} for {} bytes beside the {} in use{}",
                                    device == Device::cuda ? " on the GPU" : "", block_bytes,
                                    pool.statistics.bytes_in_use,
                                    device == Device::cuda ? "; use --device cpu" : ""));
    if (pool.in_step) pool.step_blocks[block] = block_bytes;
  } else if (pool.in_step) {
    block_bytes = pool.step_blocks[block];
  }
  pool.statistics.bytes_in_use += block_bytes;
  pool.statistics.peak_bytes = std::max(pool.statistics.peak_bytes, pool.statistics.bytes_in_use);
  if (device == Device::cuda) cuda::poison_if_asked(block, block_bytes);
  return block;
}

void release(Device device, void* block, size_t bytes) {
  Pool& pool = pool_of(device);
  const std::lock_guard lock(pool.mutex);
  const auto of_step = pool.step_blocks.find(block);
  const size_t block_bytes =
      of_step == pool.step_blocks.end() ? size_class(bytes ? bytes : 1) : of_step->second;
  (of_step == pool.step_blocks.end() ? pool.free_blocks : pool.free_step_blocks)[block_bytes].push_back(
      block);
  pool.statistics.bytes_in_use -= block_bytes;
}

MemoryStatistics memory_statistics(Device device) {
  Pool& pool = pool_of(device);
  const std::lock_guard lock(pool.mutex);
  return pool.statistics;
}

void reset_peak_bytes(Device device) {
  Pool& pool = pool_of(device);
  const std::lock_guard lock(pool.mutex);
  pool.statistics.peak_bytes = pool.statistics.bytes_in_use;
}

namespace {

/// The number at the beginning of a file or, if a name is given, of the line after that name; none if there
/// is no such line, or a word in place of the number, such as "max".
std::optional<int64_t> parse_number(const char* path, const std::string& name = "") {
  std::ifstream file(path);
  std::string word;
  while (word != name && file >> word)
    if (word != name) std::getline(file, word);
  int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// Bytes that the container (cgroup v2) still allows its processes; cached file pages count as free. None
/// without a limit.
std::optional<int64_t> left_in_container() {
  const auto most = parse_number("/sys/fs/cgroup/memory.max"),
             current = parse_number("/sys/fs/cgroup/memory.current");
  if (!most || !current) return std::nullopt;
  const char* details = "/sys/fs/cgroup/memory.stat";
  return *most - *current + parse_number(details, "inactive_file").value_or(0) +
         parse_number(details, "active_file").value_or(0);
}

/// Addresses that the program takes for itself while it works: for its files, and because memory comes in
/// large pieces.
constexpr int64_t addresses_beside_tensors = 16 << 20;

}  // namespace

std::optional<int64_t> left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = parse_number("/proc/self/statm");
  if (!pages) return std::nullopt;
  return static_cast<int64_t>(limit.rlim_cur) - *pages * sysconf(_SC_PAGESIZE);
}

std::optional<int64_t> available_memory() {
  std::optional<int64_t> least;
  if (const auto kibibytes = parse_number("/proc/meminfo", "MemAvailable:")) least = *kibibytes * 1024;
  std::optional<int64_t> addresses = left_of_address_space();
  if (addresses) *addresses -= addresses_beside_tensors;
  for (const auto& limit : {left_in_container(), addresses})
    if (limit) least = std::max<int64_t>(0, std::min(least.value_or(*limit), *limit));
  return least;
}

std::optional<int64_t> available_memory(Device device) {
  if (!is_gpu(device)) return available_memory();
  return std::max<int64_t>(0, static_cast<int64_t>(cuda::memory().free) - cuda::workspace_bytes);
}

std::string bytes_text(int64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.3g} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace rondo
