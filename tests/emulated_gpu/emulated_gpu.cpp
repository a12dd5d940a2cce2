// The emulated GPU's memory, an arena that is closed while nothing runs; its queue; and the functions of
// CUDA's runtime over them. Kernels: block.cpp. Products: cublas_lt.cpp.
#include "tests/emulated_gpu/emulated_gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/stream.h"
#include "tests/emulated_gpu/queue.h"

/// A launch of a graph, or what else is recorded.
struct EmulatedNode {
  rondo::emulated_gpu::Work work;
  rondo::emulated_gpu::Arguments arguments;
  std::vector<rondo::cuda::Access> accesses;
  bool checked = false;               // it has noted its accesses
  std::vector<EmulatedNode*> behind;  // what waits for it
  size_t waits_for = 0;               // so many
  int64_t chain = 1;                  // the longest that ends with it
};
struct EmulatedGraph {
  std::shared_ptr<std::vector<std::unique_ptr<EmulatedNode>>> nodes;
};

namespace rondo::emulated_gpu {

const char* setting(const char* name) {
  static const std::string all = [] {
    const char* given = std::getenv("RONDO_EMULATED_GPU");
    return std::string(",") + (given ? given : "");
  }();
  const size_t place = all.find("," + std::string(name));
  return place == std::string::npos ? nullptr : all.c_str() + place + 1 + std::strlen(name);
}

namespace {

// ---- Memory.

/// One range of addresses. Blocks lie behind one another; a freed one serves for its own size again.
struct Arena {
  static constexpr std::size_t reserved = std::size_t{16} << 30, page = 4096,
                               huge_page = std::size_t{2} << 20;
  char* begin = [] {
    void* memory =
        mmap(nullptr, reserved + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const auto address = (reinterpret_cast<std::uintptr_t>(memory) + huge_page - 1) / huge_page * huge_page;
    madvise(reinterpret_cast<void*>(address), reserved, MADV_HUGEPAGE);
    return reinterpret_cast<char*>(address);
  }();
  std::size_t end = 0, in_use = 0;
  std::optional<std::size_t> limit;
  struct Block {
    std::size_t bytes = 0;
    bool free = false;
  };
  std::map<char*, Block> blocks;  // one after the other, up to the end
  std::multimap<std::size_t, char*> free;

  std::size_t capacity() const {
    if (limit) return *limit;
    const char* given = setting("memory=");
    return given ? std::strtoull(given, nullptr, 10) : reserved;
  }
  void* take(std::size_t bytes) {
    bytes = (bytes + page - 1) / page * page;
    if (in_use + bytes > capacity()) return nullptr;
    in_use += bytes;
    if (const auto kept = free.find(bytes); kept != free.end()) {
      char* block = kept->second;
      free.erase(kept);
      blocks.at(block).free = false;
      return poisoned(block, bytes);
    }
    if (end + bytes > reserved) misuse("the arena is used up");
    char* block = begin + end;
    end += bytes;
    blocks[block] = {bytes};
    return poisoned(block, bytes);
  }
  /// What was never written is NaN, or -1.
  void* poisoned(void* block, std::size_t bytes) const {
    open(true);
    std::memset(block, 0xff, bytes);
    open(false);
    return block;
  }
  void give_back(void* block) {
    const auto known = blocks.find(static_cast<char*>(block));
    if (known == blocks.end()) misuse("cudaFree of what cudaMalloc did not give");
    in_use -= known->second.bytes;
    known->second.free = true;
    free.emplace(known->second.bytes, known->first);
  }
  bool holds(const void* address, std::size_t bytes) const {
    const char* first = static_cast<const char*>(address);
    return begin <= first && first + bytes <= begin + end;
  }
  /// Whole huge pages at a time, which is quick even where there are many; but for what was freed.
  void open(bool yes) const {
    const std::size_t bytes = (end + huge_page - 1) / huge_page * huge_page;
    if (bytes > 0) mprotect(begin, bytes, yes ? PROT_READ | PROT_WRITE : PROT_NONE);
    if (!yes) return;
    for (auto it = blocks.begin(); it != blocks.end();) {
      char* const freed = it->first;
      std::size_t together = 0;
      for (; it != blocks.end() && it->second.free; ++it) together += it->second.bytes;
      if (together > 0)
        mprotect(freed, together, PROT_NONE);
      else
        ++it;
    }
  }
};

// ---- The queue.

struct State {
  Arena arena;
  std::vector<Work> queue;
  std::map<const void*, std::size_t> pinned;
  decltype(EmulatedGraph::nodes) captured;  // where work goes while a graph is made
  std::vector<EmulatedNode*> waits_for;     // what is recorded next
  cudaError_t failure = cudaSuccess;        // for good
  Counts counts;
};
/// Never destroyed: tensors in static storage may outlive it.
State& state() {
  static auto* it = new State;
  return *it;
}

/// Runs what is queued.
cudaError_t wait() {
  State& gpu = state();
  if (gpu.captured) return cudaErrorStreamCaptureUnsupported;
  ++gpu.counts.waits;
  gpu.arena.open(true);
  for (const Work& work : gpu.queue)
    if (gpu.failure == cudaSuccess) work();
  gpu.queue.clear();
  gpu.arena.open(false);
  return gpu.failure;
}

}  // namespace

[[noreturn]] void misuse(const char* what, const char* kernel) {
  std::fprintf(stderr, "emulated GPU: %s %s\n", what, kernel);
  std::abort();
}

cudaError_t enqueue(Work work, Arguments arguments) {
  State& gpu = state();
  if (gpu.failure != cudaSuccess) return gpu.failure;
  ++gpu.counts.queued;
  if (!gpu.captured) {
    gpu.queue.push_back(std::move(work));
    return cudaSuccess;
  }
  EmulatedNode& node = *gpu.captured->emplace_back(std::make_unique<EmulatedNode>());
  node.work = std::move(work);
  node.arguments = std::move(arguments);
  if (const auto* accesses = cuda::accesses_of_launch()) {
    node.accesses = *accesses;
    node.checked = node.accesses[0].begin > 0;
    gpu.counts.unnoted += !node.checked;
  }
  for (EmulatedNode* before : std::exchange(gpu.waits_for, {&node})) {
    before->behind.push_back(&node);
    ++node.waits_for;
    node.chain = std::max(node.chain, before->chain + 1);
  }
  gpu.counts.longest_chain = std::max(gpu.counts.longest_chain, node.chain);
  return cudaSuccess;
}

void Arguments::find(const void* argument, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, static_cast<const char*>(argument) + at, sizeof word);
    if (state().arena.holds(word, 1)) addresses.push_back(word);
  }
}

namespace {
std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool touches(const EmulatedNode& node, std::uintptr_t begin, std::uintptr_t end, bool writes) {
  return std::ranges::any_of(node.accesses, [&](const cuda::Access& it) {
    return (it.writes || !writes) && it.begin < end && begin < it.end;
  });
}

/// What is not noted must be memory that no launch of the graph writes.
void check_addresses(const EmulatedGraph& graph) {
  for (const auto& node : *graph.nodes)
    for (const void* address : node->arguments.addresses) {
      const std::uintptr_t at = number(address);
      if (!node->checked || touches(*node, at, at + 1, false)) continue;
      for (const auto& other : *graph.nodes)
        if (other->checked && touches(*other, at, at + 1, true))
          misuse("a launch has not noted that it accesses what another one writes", node->arguments.kernel);
    }
}

/// A sum of the numbers in all that a launch must not change: what it has noted to read only, or not at all,
/// and what lies behind all of this.
uint64_t sum_of_unwritten(const EmulatedNode& node) {
  uint64_t sum = 0;
  const auto add = [&](std::uintptr_t begin, std::uintptr_t end) {
    if (touches(node, begin, end, true)) return;
    for (auto at = (begin + 3) / 4 * 4; at + 4 <= end; at += 4)
      sum = (sum ^ *reinterpret_cast<const uint32_t*>(at)) * 0x9e3779b97f4a7c15 + at;
  };
  const auto add_near = [&](std::uintptr_t begin, std::uintptr_t in_page) {  // up to the end of that page
    constexpr std::uintptr_t near = 64;
    add(begin, std::min(begin + near, (in_page / Arena::page + 1) * Arena::page));
  };
  for (const cuda::Access& it : node.accesses) {
    if (!it.writes) add(it.begin, it.end);
    add_near(it.end, it.end - 1);
  }
  for (const void* address : node.arguments.addresses) add_near(number(address), number(address));
  return sum;
}

void run(EmulatedNode& node) {
  const uint64_t before = node.checked ? sum_of_unwritten(node) : 0;
  node.work();
  if (node.checked && sum_of_unwritten(node) != before)
    misuse("a launch has changed what it has not noted to write", node.arguments.kernel);
}

/// In any order, another each time.
void run(const EmulatedGraph& graph) {
  static uint64_t choices = 0;
  std::map<const EmulatedNode*, size_t> waits_for;
  std::vector<EmulatedNode*> ready;
  for (const auto& node : *graph.nodes)
    if ((waits_for[node.get()] = node->waits_for) == 0) ready.push_back(node.get());
  while (!ready.empty() && state().failure == cudaSuccess) {
    std::swap(ready[scattered(++choices) % ready.size()], ready.back());
    EmulatedNode* const node = ready.back();
    ready.pop_back();
    run(*node);
    for (EmulatedNode* next : node->behind)
      if (--waits_for[next] == 0) ready.push_back(next);
  }
}
}  // namespace

void count_launch() {
  State& gpu = state();
  const char* last = setting("fails_at=");
  if (++gpu.counts.launches == (last ? std::atoll(last) : -1)) gpu.failure = cudaErrorIllegalAddress;
}

void count_unaligned(int64_t matrices) { state().counts.unaligned += matrices; }
void count_ragged(int64_t factors) { state().counts.ragged += factors; }

const Counts& counts() { return state().counts; }

void limit_memory(bool yes) {
  Arena& arena = state().arena;
  arena.limit = yes ? std::optional(arena.in_use) : std::nullopt;
}

cudaError_t launch(dim3 grid, dim3 block_size, Work thread, Arguments arguments) {
  constexpr unsigned max_threads = 1024, max_blocks = 2147483647;
  if (grid.x == 0 || grid.x > max_blocks || block_size.x == 0 || block_size.x > max_threads)
    return cudaErrorInvalidValue;
  const auto work = [=, thread = std::move(thread)] {
    count_launch();
    run_grid(grid, block_size, thread);
  };
  return enqueue(work, std::move(arguments));
}

}  // namespace rondo::emulated_gpu

using namespace rondo::emulated_gpu;

const char* cudaGetErrorString(cudaError_t error) {
  constexpr const char* texts[] = {"no error",
                                   "out of memory",
                                   "no CUDA-capable device is detected",
                                   "CUDA driver version is insufficient for CUDA runtime version",
                                   "invalid argument",
                                   "an illegal memory access was encountered",
                                   "operation not permitted when stream is capturing"};
  return texts[error];
}
cudaError_t cudaGetLastError() { return state().failure; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (setting("absent")) return cudaErrorNoDevice;
  if (setting("old_driver")) return cudaErrorInsufficientDriver;
  const char* given = setting("gpus=");
  *count = given ? std::atoi(given) : 1;
  return cudaSuccess;
}
namespace {
int current_device = 0;
}
/// A process has one at a time: the others are other processes'.
cudaError_t cudaSetDevice(int device) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (device < count) current_device = device;
  return device < count ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated GPU", state().arena.capacity(), 9, 0};
  if (const char* given = setting("capability="))
    std::sscanf(given, "%d.%d", &properties->major, &properties->minor);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  State& gpu = state();
  if (gpu.failure != cudaSuccess) return gpu.failure;
  ++gpu.counts.system_allocations;
  const char* full = setting("full_at=");
  *to = full && gpu.counts.queued >= std::atoll(full) ? nullptr : gpu.arena.take(bytes);
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* it) {
  const cudaError_t answer = wait();  // as CUDA does
  if (it) state().arena.give_back(it);
  return answer;
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) {
  *to = std::malloc(bytes);
  state().pinned[*to] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* it) {
  state().pinned.erase(it);
  std::free(it);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  const Arena& arena = state().arena;
  *all = arena.capacity();
  *free = *all - arena.in_use;
  return state().failure;
}

struct EmulatedStream {
  std::vector<Work> beside;  // what enqueue_beside() was given, and no event is behind
  int64_t waits_for = 0;     // so much of all other work
};
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new EmulatedStream;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

namespace {
/// Runs it behind what is queued.
cudaError_t run(std::vector<Work>& beside) {
  for (Work& work : beside)
    if (const cudaError_t answer = enqueue(std::move(work)); answer != cudaSuccess) return answer;
  beside.clear();
  return wait();
}
}  // namespace

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return run(stream->beside); }

cudaError_t rondo::emulated_gpu::enqueue_beside(cudaStream_t stream, Work work) {
  if (stream->waits_for != state().counts.queued) misuse("a sum of numbers that may not be there yet");
  stream->beside.push_back(std::move(work));
  return state().failure;
}

namespace {
bool is_pinned(const void* address, std::size_t bytes) {
  const auto& pinned = state().pinned;
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) return false;
  --after;
  return static_cast<const char*>(address) + bytes <= static_cast<const char*>(after->first) + after->second;
}
}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  State& gpu = state();
  const bool to_gpu = kind != cudaMemcpyDeviceToHost, from_gpu = kind != cudaMemcpyHostToDevice;
  if (gpu.arena.holds(to, bytes) != to_gpu || gpu.arena.holds(from, bytes) != from_gpu)
    return cudaErrorInvalidValue;
  if (kind == cudaMemcpyHostToDevice) ++gpu.counts.uploads;
  const bool pinned = kind != cudaMemcpyHostToDevice || is_pinned(from, bytes);
  if (!pinned && gpu.captured) return cudaErrorStreamCaptureUnsupported;
  // Also what is not pinned is read only when the copy runs: a real GPU promises nothing earlier.
  const cudaError_t answer = enqueue([=] { std::memmove(to, from, bytes); });
  if (answer != cudaSuccess || kind != cudaMemcpyDeviceToHost || is_pinned(to, bytes)) return answer;
  return wait();
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  if (!state().arena.holds(to, bytes)) return cudaErrorInvalidValue;
  return enqueue([=] { std::memset(to, value, bytes); }, {"memset", {to}});
}

struct EmulatedEvent {
  std::shared_ptr<bool> done = std::make_shared<bool>(true);
  std::vector<Work> beside;  // what it is behind
  int64_t queued = 0;
};
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->done = std::make_shared<bool>(false);
  event->beside = std::exchange(stream->beside, {});
  const cudaError_t answer = enqueue([done = event->done] { *done = true; });
  event->queued = state().counts.queued;
  return answer;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream->waits_for = event->queued;
  return event->beside.empty() ? state().failure : run(event->beside);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (*event->done) return cudaSuccess;
  --state().counts.waits;  // for a part of the work only
  return wait();
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  State& gpu = state();
  if (gpu.captured) return cudaErrorStreamCaptureUnsupported;
  gpu.captured = std::make_shared<std::vector<std::unique_ptr<EmulatedNode>>>();
  gpu.waits_for.clear();
  gpu.counts.longest_chain = gpu.counts.unnoted = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long*,
                                     cudaGraph_t*, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData**, std::size_t* count) {
  *status = state().captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  *dependencies = state().waits_for.data();
  *count = state().waits_for.size();
  return cudaSuccess;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, std::size_t count, unsigned flags) {
  if (!state().captured || flags != cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
  state().waits_for.assign(dependencies, dependencies + count);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = new EmulatedGraph{std::move(state().captured)};
  state().captured.reset();
  check_addresses(**graph);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  ++state().counts.graph_launches;
  return enqueue([graph = *graph] { run(graph); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  if (graph->nodes.use_count() > 1) misuse("a graph that may still run is destroyed");
  return cudaGraphDestroy(graph);
}
