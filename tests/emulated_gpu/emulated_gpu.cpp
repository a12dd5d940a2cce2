// The emulated GPU's memory, an arena that is closed while nothing runs; its queue; and the functions of
// CUDA's runtime over them. Kernels: block.cpp. Products: cublas_lt.cpp.
#include "tests/emulated_gpu/emulated_gpu.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_gpu/queue.h"

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
  std::map<void*, std::size_t> sizes;
  std::multimap<std::size_t, void*> free;

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
      void* block = kept->second;
      free.erase(kept);
      return poisoned(block, bytes);
    }
    if (end + bytes > reserved) misuse("the arena is used up");
    void* block = begin + end;
    end += bytes;
    sizes[block] = bytes;
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
    const auto known = sizes.find(block);
    if (known == sizes.end()) misuse("cudaFree of what cudaMalloc did not give");
    in_use -= known->second;
    free.emplace(known->second, block);
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
    for (const auto& [freed, block] : free) mprotect(block, freed, PROT_NONE);
  }
};

// ---- The queue.

struct State {
  Arena arena;
  std::vector<Work> queue;
  std::map<const void*, std::size_t> pinned;
  std::shared_ptr<std::vector<Work>> captured;  // where work goes while a graph is made
  cudaError_t failure = cudaSuccess;            // for good
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

[[noreturn]] void misuse(const char* what) {
  std::fprintf(stderr, "emulated GPU: %s\n", what);
  std::abort();
}

cudaError_t enqueue(Work work) {
  State& gpu = state();
  if (gpu.failure != cudaSuccess) return gpu.failure;
  (gpu.captured ? *gpu.captured : gpu.queue).push_back(std::move(work));
  ++gpu.counts.queued;
  return cudaSuccess;
}

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

cudaError_t launch(dim3 grid, dim3 block_size, Work thread) {
  constexpr unsigned max_threads = 1024, max_blocks = 2147483647;
  if (grid.x == 0 || grid.x > max_blocks || block_size.x == 0 || block_size.x > max_threads)
    return cudaErrorInvalidValue;
  return enqueue([=, thread = std::move(thread)] {
    count_launch();
    run_grid(grid, block_size, thread);
  });
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
  return enqueue([=] { std::memset(to, value, bytes); });
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

struct EmulatedGraph {
  std::shared_ptr<std::vector<Work>> work;
};
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  if (state().captured) return cudaErrorStreamCaptureUnsupported;
  state().captured = std::make_shared<std::vector<Work>>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = new EmulatedGraph{std::move(state().captured)};
  state().captured.reset();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  ++state().counts.graph_launches;
  return enqueue([work = graph->work] {
    for (const Work& each : *work)
      if (state().failure == cudaSuccess) each();
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  if (graph->work.use_count() > 1) misuse("a graph that may still run is destroyed");
  return cudaGraphDestroy(graph);
}
