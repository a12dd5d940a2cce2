// The GPU as the rest of Rondo sees it: whether there is one, its memory, copies to and from it, recorded
// work. Everything runs on one stream, in order, but for sums over GPUs (cuda/all_reduce.h). It uses no type
// of CUDA, so that g++ can compile what includes it; a build without CUDA has cuda/absent.cpp instead. Next:
// cuda/runtime.cu, cuda/products.h, cuda/launch.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace rondo::cuda {

/// Chooses one of this machine's GPUs, counted from 0, before anything else is asked of a GPU; without it,
/// the first one. If there is no such GPU, unavailable() says so; but if CUDA_VISIBLE_DEVICES shows this
/// process a single GPU, as schedulers do, that one is used.
void use_gpu(int index);

/// Why no GPU can be used here, in one line; empty if one can.
std::string unavailable();

/// "NVIDIA H200, 139.8 GiB, compute capability 9.0, driver for CUDA 13.0".
std::string description();

/// Memory from the driver; null if it has none left. tensor/allocator.h keeps it for reuse.
void* system_block(std::size_t bytes);
void free_system_block(void* block);
/// Free and total, in bytes.
struct Memory {
  std::size_t free, all;
};
Memory memory();

/// Host memory that the GPU reads while the host continues.
void* pinned_block(std::size_t bytes);
/// Waits for all work first, which may still read the block.
void free_pinned_block(void* block);

/// For tests of memory that is read before it was written: if the environment variable
/// RONDO_POISON_GPU_MEMORY is set, all bytes of a block become 0xff, which is NaN, or -1. The allocator calls
/// it for each block that it hands out.
void poison_if_asked(void* block, std::size_t bytes);

/// Copies. An upload from a block of pinned_block() is queued, and the host must not write the block before
/// it was read (Fence). After any other upload the host may reuse its memory. One of up to 256 KiB passes
/// through pinned memory, and waits only if about a megabyte of them is pending; a larger one waits
/// until it is done. A download waits for all work before it.
void upload_pinned(void* to, const void* from, std::size_t bytes);
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);
/// Waits for all work. Throws Error, naming the kernel's failure, if some of it failed.
void synchronize();

/// A mark in the order of work that the host can wait for.
class Fence {
 public:
  Fence();
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  /// Sets the mark after all work queued so far.
  void set();
  /// Waits for the work before the mark; returns at once if there is no mark.
  void wait() const;

 private:
  void* event_;
};

/// What a launch of a graph waits for.
enum class GraphOrder {
  chain,     // for the launch before
  branches,  // for those that access the same memory, of which one of the two writes it (cuda/accesses.h)
  pieces,    // likewise, and what is computed for all steps of a layer is computed for some at a time
};
/// The order of the graphs that are recorded from now on. At first it is what the environment variable
/// RONDO_GPU_GRAPHS says: chain, branches or pieces; without it, chain.
GraphOrder graph_order();
void set_graph_order(GraphOrder order);

/// Work that is recorded once and launched many times, at the cost of one launch. `work` may only launch, on
/// memory that is not freed: it must neither wait for the GPU nor copy from or to the host. Throws Error if
/// it does.
class Graph {
 public:
  explicit Graph(const std::function<void()>& work);
  /// Waits for all work first, among which it may be.
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const;

 private:
  void* graph_;
  std::int64_t launches_;
};

/// Whether a graph is being recorded.
bool recording();

/// The number of kernels and products launched so far, including those of replayed graphs.
std::int64_t launches();

}  // namespace rondo::cuda
