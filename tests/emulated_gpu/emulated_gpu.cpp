// The emulated GPU: a queue, an arena of memory that is closed while nothing runs, and threads of a block as
// contexts that are run in turns.
#include "tests/emulated_gpu/emulated_gpu.h"

#include <cblas.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_gpu/cublas_v2.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace rondo::emulated_gpu {
namespace {

using Work = std::function<void()>;

[[noreturn]] void misuse(const char* what) {
  std::fprintf(stderr, "emulated GPU: %s\n", what);
  std::abort();
}

/// What RONDO_EMULATED_GPU says of `name`; null: nothing.
const char* setting(const char* name) {
  static const std::string all = [] {
    const char* given = std::getenv("RONDO_EMULATED_GPU");
    return std::string(",") + (given ? given : "");
  }();
  const size_t place = all.find("," + std::string(name));
  return place == std::string::npos ? nullptr : all.c_str() + place + 1 + std::strlen(name);
}

// --- Memory
// ----------------------------------------------------------------------------------------------------------

/// One range of addresses. Blocks lie behind one another; a freed one serves for its own size again.
struct Arena {
  static constexpr std::size_t reserved = std::size_t{16} << 30, page = 4096;
  char* begin = static_cast<char*>(
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::size_t end = 0, in_use = 0;
  std::map<void*, std::size_t> sizes;
  std::multimap<std::size_t, void*> free;

  std::size_t capacity() const {
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
      return block;
    }
    if (end + bytes > reserved) misuse("the arena is used up");
    void* block = begin + end;
    end += bytes;
    sizes[block] = bytes;
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
  void open(bool yes) const {
    if (end > 0) mprotect(begin, end, yes ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
};

// --- The queue
// -------------------------------------------------------------------------------------------------------

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

cudaError_t enqueue(Work work) {
  State& gpu = state();
  if (gpu.failure != cudaSuccess) return gpu.failure;
  (gpu.captured ? *gpu.captured : gpu.queue).push_back(std::move(work));
  return cudaSuccess;
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

/// Counts a launch, and fails where it was told to.
void count_launch() {
  State& gpu = state();
  const char* last = setting("fails_at=");
  if (++gpu.counts.launches == (last ? std::atoll(last) : -1)) gpu.failure = cudaErrorIllegalAddress;
}

// --- The threads of a block
// ------------------------------------------------------------------------------------------

/// Tells the address sanitizer of a change of stacks, before it and behind it.
struct StackChange {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* kept = nullptr;

#ifdef __SANITIZE_ADDRESS__
  void leave_for(const void* other, std::size_t its_size) {
    __sanitizer_start_switch_fiber(&kept, other, its_size);
  }
  void leave_for_good(const void* other, std::size_t its_size) {
    __sanitizer_start_switch_fiber(nullptr, other, its_size);
  }
  void arrive(StackChange* from) {
    __sanitizer_finish_switch_fiber(kept, from ? &from->bottom : nullptr, from ? &from->size : nullptr);
  }
#else
  void leave_for(const void*, std::size_t) {}
  void leave_for_good(const void*, std::size_t) {}
  void arrive(StackChange*) {}
#endif
};

/// A stack on which threads run one after another until one waits; what comes then gets the next stack.
struct Worker {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  ucontext_t start;
  std::jmp_buf place;
  dim3 thread;
  StackChange change;
};

struct Block {
  const Work* thread_body = nullptr;
  unsigned next = 0, size = 0;
  bool reversed = false;
  std::vector<std::unique_ptr<Worker>> workers;
  std::size_t running = 0;
  std::jmp_buf scheduler;
  StackChange change;  // of the scheduler
};
Block block;

/// Runs threads of the block that have not begun, and says so when none is left.
void run_threads() {
  StackChange none;
  none.arrive(&block.change);
  while (block.next < block.size) {
    const unsigned i = block.next++;
    threadIdx = {block.reversed ? block.size - 1 - i : i, 0, 0};
    (*block.thread_body)();
  }
  none.leave_for_good(block.change.bottom, block.change.size);
  std::longjmp(block.scheduler, 2);
}

/// Lets a worker go on until its thread waits (true) or all that it had to do is done (false).
bool resume(std::size_t index, bool begin) {
  block.running = index;
  const int answer = setjmp(block.scheduler);
  if (answer != 0) {
    block.change.arrive(nullptr);
    return answer == 1;
  }
  Worker& worker = *block.workers[index];
  block.change.leave_for(worker.stack.get(), Worker::stack_bytes);
  if (!begin) {
    threadIdx = worker.thread;
    std::longjmp(worker.place, 1);
  }
  getcontext(&worker.start);
  worker.start.uc_stack = {worker.stack.get(), 0, Worker::stack_bytes};
  worker.start.uc_link = nullptr;
  makecontext(&worker.start, run_threads, 0);
  setcontext(&worker.start);
  misuse("a context did not start");
}

void run_block(const Work& thread, unsigned size) {
  block.thread_body = &thread;
  block.next = 0;
  block.size = size;
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; block.next < size; ++i) {
    if (i == block.workers.size()) block.workers.push_back(std::make_unique<Worker>());
    if (resume(i, true)) waiting.push_back(i);
  }
  // Every thread must come to every barrier, so each round all go on or all are done.
  while (!waiting.empty()) {
    std::vector<std::size_t> still;
    if (block.reversed) std::vector<std::size_t>(waiting.rbegin(), waiting.rend()).swap(waiting);
    for (const std::size_t i : waiting)
      if (resume(i, false)) still.push_back(i);
    if (!still.empty() && still.size() != waiting.size())
      misuse("some threads of a block end while others wait for them");
    waiting = block.reversed ? std::vector<std::size_t>(still.rbegin(), still.rend()) : still;
  }
}

void run_grid(dim3 grid, dim3 block_size, const Work& thread) {
  count_launch();
  block.reversed = !block.reversed;
  gridDim = grid;
  blockDim = block_size;
  for (unsigned i = 0; i < grid.x; ++i) {
    blockIdx = {block.reversed ? grid.x - 1 - i : i, 0, 0};
    run_block(thread, block_size.x);
  }
}

/// A float with so many bits behind the point, rounded to the nearest.
float rounded(float x, int bits) {
  uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  const int dropped = 23 - bits;
  const uint32_t odd = word >> dropped & 1;
  word = (word + (1u << (dropped - 1)) - 1 + odd) & ~((1u << dropped) - 1);
  std::memcpy(&x, &word, sizeof x);
  return x;
}
/// A matrix [rows, columns] by columns; float, as tensor cores read it.
std::vector<float> rounded(const float* from, int rows, int columns, int stride, int bits) {
  std::vector<float> to(static_cast<size_t>(stride) * columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = static_cast<size_t>(j) * stride + i;
      to[at] = std::isfinite(from[at]) ? rounded(from[at], bits) : from[at];
    }
  return to;
}

}  // namespace

const Counts& counts() { return state().counts; }

cudaError_t launch(dim3 grid, dim3 block_size, Work thread) {
  constexpr unsigned most_threads = 1024, most_blocks = 2147483647;
  if (grid.x == 0 || grid.x > most_blocks || block_size.x == 0 || block_size.x > most_threads)
    return cudaErrorInvalidValue;
  return enqueue([=, thread = std::move(thread)] { run_grid(grid, block_size, thread); });
}

}  // namespace rondo::emulated_gpu

using namespace rondo::emulated_gpu;

void __syncthreads() {
  Worker& worker = *block.workers[block.running];
  worker.thread = threadIdx;
  if (setjmp(worker.place) == 0) {
    worker.change.leave_for(block.change.bottom, block.change.size);
    std::longjmp(block.scheduler, 1);
  }
  worker.change.arrive(nullptr);
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
  }
  return "unknown error";
}
cudaError_t cudaGetLastError() { return state().failure; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (setting("absent")) return cudaErrorNoDevice;
  if (setting("old_driver")) return cudaErrorInsufficientDriver;
  *count = 1;
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
  *to = gpu.arena.take(bytes);
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

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return wait(); }

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
  if (kind == cudaMemcpyHostToDevice && !is_pinned(from, bytes)) {  // read before this returns
    if (gpu.captured) return cudaErrorStreamCaptureUnsupported;
    const char* first = static_cast<const char*>(from);
    return enqueue(
        [to, copy = std::vector<char>(first, first + bytes)] { std::memcpy(to, copy.data(), copy.size()); });
  }
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
};
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->done = std::make_shared<bool>(false);
  return enqueue([done = event->done] { *done = true; });
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
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return cudaGraphDestroy(graph); }

struct EmulatedBlas {};
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new EmulatedBlas;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType_t type, int lda,
                            const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                            cudaDataType_t c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const int a_rows = a_op == CUBLAS_OP_N ? m : k, b_rows = b_op == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || lda < a_rows || ldb < b_rows || ldc < m || type != b_type ||
      type != c_type || (type == CUDA_R_64F) != (compute == CUBLAS_COMPUTE_64F))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto blas = [](cublasOperation_t op) { return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; };
  const auto number = [&](const void* at) {
    return type == CUDA_R_64F ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
  };
  enqueue([=, alpha = number(alpha), beta = number(beta)] {
    count_launch();
    if (type == CUDA_R_64F) {
      cblas_dgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, alpha, static_cast<const double*>(a), lda,
                  static_cast<const double*>(b), ldb, beta, static_cast<double*>(c), ldc);
      return;
    }
    const auto *left = static_cast<const float*>(a), *right = static_cast<const float*>(b);
    std::vector<float> rounded_left, rounded_right;
    if (compute != CUBLAS_COMPUTE_32F) {
      const int bits = compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? 10 : 7;
      rounded_left = rounded(left, a_rows, a_op == CUBLAS_OP_N ? k : m, lda, bits);
      rounded_right = rounded(right, b_rows, b_op == CUBLAS_OP_N ? n : k, ldb, bits);
      left = rounded_left.data();
      right = rounded_right.data();
    }
    cblas_sgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, static_cast<float>(alpha), left, lda, right,
                ldb, static_cast<float>(beta), static_cast<float*>(c), ldc);
  });
  return CUBLAS_STATUS_SUCCESS;
}
