// The GPU: its one stream, its memory, recorded work.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>

#include "cuda/accesses.h"
#include "cuda/products.h"
#include "cuda/runtime.h"
#include "cuda/stream.h"
#include "tensor/error.h"

namespace rondo::cuda {
namespace {

int chosen_gpu = 0;

/// The chosen GPU, or the only one of `count` that a scheduler shows this process.
int index_among(int count) { return count == 1 && std::getenv("CUDA_VISIBLE_DEVICES") ? 0 : chosen_gpu; }
/// The GPU in use; call unavailable() first.
int current_gpu() {
  int device = 0;
  check_status(cudaGetDevice(&device), "asking which it is");
  return device;
}

std::string why_not() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  int driver = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
    return "there is no driver of a GPU";
  if (error == cudaErrorInsufficientDriver)
    return "the driver of the GPU is older than this program's CUDA; update the driver";
  if (error != cudaSuccess || count == 0) return "there is no GPU that CUDA can use";
  const int index = index_among(count);
  if (index >= count)
    return fmt::format("rank {} of this machine needs a GPU of its own, and there {} {}", index,
                       count == 1 ? "is" : "are", count);
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return "the GPU does not answer";
  if (properties.major < oldest_capability)
    return fmt::format("{} has compute capability {}.{}, and this program needs {}.0 or newer",
                       properties.name, properties.major, properties.minor, oldest_capability);
  if (index > 0)  // the first is used without a choice
    if (const cudaError_t chosen = cudaSetDevice(index); chosen != cudaSuccess)
      return fmt::format("GPU {} cannot be used: {}", index, cudaGetErrorString(chosen));
  return "";
}

GraphOrder& order_in_force() {
  static GraphOrder it = [] {
    const char* const asked = std::getenv("RONDO_GPU_GRAPHS");
    const std::string_view name = asked ? asked : "chain";
    check(name == "chain" || name == "branches" || name == "pieces",
          "[cuda] RONDO_GPU_GRAPHS is chain, branches or pieces, not {}", name);
    return name == "chain"      ? GraphOrder::chain
           : name == "branches" ? GraphOrder::branches
                                : GraphOrder::pieces;
  }();
  return it;
}

/// The launches of the graph that is recorded, each of which waits for those that it must not overtake. All
/// are launched on the one stream, which is told before each what the launch waits for, and asked
/// behind it for its node: the last one, where a launch consists of several.
class Branches {
 public:
  /// The launch that comes next; the result is the room of `rooms` that it writes.
  std::size_t begin(std::vector<Access> accesses, std::span<const Access> rooms) {
    end_last();
    if (accesses.empty()) accesses = {{0, UINTPTR_MAX, true}};
    Launch next{{}, std::move(accesses), std::vector<bool>(launches_.size())};
    std::vector<cudaGraphNode_t> waits_for;
    const auto wait_where = [&](const auto& conflicts) {
      for (std::size_t i = launches_.size(); i-- > 0;) {  // those before one that it waits for need no edge
        if (next.after[i] || !conflicts(launches_[i])) continue;
        waits_for.push_back(launches_[i].node);
        next.after[i] = true;
        for (std::size_t j = 0; j < i; ++j) next.after[j] = next.after[j] || launches_[i].after[j];
      }
    };
    wait_where([&](const Launch& it) { return it.conflicts(next.accesses); });
    const std::size_t room = rooms.empty() ? 0 : best_of(rooms, next);
    if (!rooms.empty()) {
      wait_where([&](const Launch& it) { return it.conflicts(rooms.subspan(room, 1)); });
      next.accesses.push_back(rooms[room]);
    }
    launches_.push_back(std::move(next));
    set_dependencies(waits_for);
    return room;
  }
  const std::vector<Access>& accesses() const { return launches_.back().accesses; }

 private:
  struct Launch {
    cudaGraphNode_t node;
    std::vector<Access> accesses;
    std::vector<bool> after;  // which launches have ended when it begins

    bool conflicts(std::span<const Access> others) const {
      for (const Access& other : others)
        for (const Access& it : accesses)
          if (it.conflicts(other)) return true;
      return false;
    }
  };

  /// The room whose last launch, of those that `next` does not wait for anyway, is the earliest, or that has
  /// none.
  std::size_t best_of(std::span<const Access> rooms, const Launch& next) const {
    std::size_t best = 0, earliest = SIZE_MAX;
    for (std::size_t room = 0; room < rooms.size() && earliest > 0; ++room) {
      std::size_t last = launches_.size();
      while (last > 0 && (next.after[last - 1] || !launches_[last - 1].conflicts(rooms.subspan(room, 1))))
        --last;
      if (last < earliest) best = room, earliest = last;
    }
    return best;
  }
  void end_last() {
    if (launches_.empty()) return;
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    check_status(cudaStreamGetCaptureInfo(stream(), &status, nullptr, nullptr, &nodes, nullptr, &count),
#else
    check_status(cudaStreamGetCaptureInfo_v2(stream(), &status, nullptr, nullptr, &nodes, &count),
#endif
                 "asking for a node");
    check(count == 1, "[cuda] a launch ended in {} nodes of a graph", count);
    launches_.back().node = nodes[0];
  }
  static void set_dependencies(std::vector<cudaGraphNode_t>& nodes) {
    check_status(cudaStreamUpdateCaptureDependencies(stream(), nodes.data(),
#if CUDART_VERSION >= 13000
                                                     nullptr,
#endif
                                                     nodes.size(), cudaStreamSetCaptureDependencies),
                 "ordering a graph");
  }

  std::vector<Launch> launches_;
};

std::unique_ptr<Branches> branches;  // of the graph that is recorded
std::size_t order_launch(std::span<const Access> rooms) {
  return branches ? branches->begin(std::exchange(noted_accesses, {}), rooms) : 0;
}
std::int64_t launch_count = 0;

}  // namespace

/// Work fails when it runs, which is later than its launch.
void check_status(cudaError_t status, const char* what) {
  check(status == cudaSuccess,
        "[cuda] the GPU failed at or before {}: {}; if it fails again, use --device cpu", what,
        cudaGetErrorString(status));
}

cudaStream_t stream() {
  static const cudaStream_t made = [] {
    cudaStream_t it = nullptr;
    check_status(cudaStreamCreateWithFlags(&it, cudaStreamNonBlocking), "making the stream");
    return it;
  }();
  return made;
}

void use_gpu(int index) { chosen_gpu = index; }

std::string unavailable() {
  static const std::string reason = why_not();
  return reason;
}

std::string description() {
  cudaDeviceProp it{};
  int driver = 0;
  check_status(cudaGetDeviceProperties(&it, current_gpu()), "asking for its properties");
  check_status(cudaDriverGetVersion(&driver), "asking for the driver's version");
  return fmt::format("{}, {:.1f} GiB, compute capability {}.{}, driver for CUDA {}.{}", it.name,
                     static_cast<double>(it.totalGlobalMem) / (1 << 30), it.major, it.minor, driver / 1000,
                     driver % 1000 / 10);
}

void* system_block(std::size_t bytes) {
  void* block = nullptr;
  const cudaError_t status = cudaMalloc(&block, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears it, so that later calls do not report it
    return nullptr;
  }
  check_status(status, "allocating memory");
  return block;
}

void free_system_block(void* block) { check_status(cudaFree(block), "freeing memory"); }

Memory memory() {
  Memory it{};
  check_status(cudaMemGetInfo(&it.free, &it.all), "asking for free memory");
  return it;
}

void* pinned_block(std::size_t bytes) {
  void* block = nullptr;
  check_status(cudaMallocHost(&block, bytes), "allocating pinned memory");
  return block;
}
void free_pinned_block(void* block) {
  cudaStreamSynchronize(stream());  // queued work may still read it; ignore the error of a failed GPU
  cudaFreeHost(block);
}

void poison_if_asked(void* block, std::size_t bytes) {
  static const bool asked = std::getenv("RONDO_POISON_GPU_MEMORY") != nullptr;
  if (!asked) return;
  const LaunchBetween between;
  note_access(block, bytes, true);
  order_launch({});
  check_status(cudaMemsetAsync(block, 0xff, bytes, stream()), "poisoning memory");
}

namespace {
bool records = false;
void set_recording(bool yes) {
  records = yes;
  notes_accesses = yes && graph_order() != GraphOrder::chain;
  noted_accesses.clear();
  branches.reset();
  if (notes_accesses) branches = std::make_unique<Branches>();
}
}  // namespace
bool recording() { return records; }

namespace {
void check_not_recording() {
  check(!records, "[cuda] a copy from the host cannot be recorded");  // the host may have freed it
}
}  // namespace

void upload_pinned(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  check_not_recording();
  check_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "copying to it");
}

namespace {
/// Pinned memory that small uploads pass through. It is filled in turns: a block is written again when the
/// GPU has read it. Never destroyed, like the stream.
class UploadBuffer {
 public:
  static constexpr std::size_t block_bytes = std::size_t{1} << 18;

  void upload(void* to, const void* from, std::size_t bytes) {
    check_not_recording();
    if (used_ + bytes > block_bytes) {
      blocks_[current_].read.set();
      current_ = (current_ + 1) % std::size(blocks_);
      blocks_[current_].read.wait();
      used_ = 0;
    }
    char* place = blocks_[current_].memory + used_;
    std::memcpy(place, from, bytes);
    upload_pinned(to, place, bytes);
    used_ += bytes;
  }

 private:
  struct Block {
    char* memory = static_cast<char*>(pinned_block(block_bytes));
    Fence read;
  };
  Block blocks_[4];
  std::size_t current_ = 0, used_ = 0;
};
}  // namespace

void upload(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes <= UploadBuffer::block_bytes) {
    static auto* buffer = new UploadBuffer;
    return buffer->upload(to, from, bytes);
  }
  upload_pinned(to, from, bytes);
  synchronize();  // CUDA does not promise that the copy is read before the call returns
}

void download(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0)
    check_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "copying from it");
  synchronize();
}

void synchronize() { check_status(cudaStreamSynchronize(stream()), "waiting for its work"); }

Fence::Fence() {
  cudaEvent_t event = nullptr;
  check_status(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  event_ = event;
}
Fence::~Fence() { cudaEventDestroy(static_cast<cudaEvent_t>(event_)); }
void Fence::set() {
  check_status(cudaEventRecord(static_cast<cudaEvent_t>(event_), stream()), "setting an event");
}
void Fence::wait() const {
  check_status(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "waiting for its work");
}

std::size_t begin_launch(std::span<const Access> rooms) {
  ++launch_count;
  return order_launch(rooms);
}
const std::vector<Access>* accesses_of_launch() { return branches ? &branches->accesses() : nullptr; }
GraphOrder graph_order() { return order_in_force(); }
void set_graph_order(GraphOrder order) { order_in_force() = order; }
std::int64_t launches() { return launch_count; }

Graph::Graph(const std::function<void()>& work) {
  prepare_products();
  const std::int64_t before = launch_count;
  check_status(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed), "beginning a graph");
  cudaGraph_t recorded = nullptr;
  set_recording(true);
  try {
    work();
    set_recording(false);
  } catch (...) {
    set_recording(false);
    cudaStreamEndCapture(stream(), &recorded);
    if (recorded) cudaGraphDestroy(recorded);
    throw;
  }
  check_status(cudaStreamEndCapture(stream(), &recorded), "recording a graph");
  launches_ = launch_count - before;
  launch_count = before;  // nothing has run yet
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, recorded, 0);
  cudaGraphDestroy(recorded);
  check_status(status, "making a graph");
  graph_ = made;
}
Graph::~Graph() {
  cudaStreamSynchronize(stream());  // it may still run; ignore the error of a failed GPU
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}
void Graph::launch() const {
  check_status(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), stream()), "launching a graph");
  launch_count += launches_;
}

}  // namespace rondo::cuda
