// The GPU as the rest of Rondo sees it: whether there is one, its memory, copies to and from it, products.
// Everything runs on one stream, in order. It deliberately knows no Tensor and shows no type of CUDA's, so
// that sources of g++ include it; in a build without CUDA it says so (cuda/absent.cpp). Next:
// cuda/runtime.cu, cuda/launch.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace rondo::cuda {

/// Why nothing can be computed on a GPU here, in one line; empty where it can.
std::string unavailable();

/// "NVIDIA H200, 139.8 GiB, compute capability 9.0, driver for CUDA 13.0".
std::string description();

/// Memory of the driver's, null where it has no more; tensor/allocator.h keeps it for further use.
void* system_block(std::size_t bytes);
void free_system_block(void* block);
/// Free and in all, in bytes.
struct Memory {
  std::size_t free, all;
};
Memory memory();

/// What cuBLAS takes of it with the first product: memory that stays, so that a product can be part of a
/// graph and gives the same bits each time; as much as NVIDIA recommends for Hopper.
constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

/// Memory of the host that upload() reads when its turn comes, while the host goes on; of other memory it has
/// read all when it returns.
void* pinned_block(std::size_t bytes);
/// Waits for all work, which may read the block still.
void free_pinned_block(void* block);

/// Copies; a download waits for all work before it.
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);
/// Waits for all work. Throws Error, naming the kernel's failure, if some of it failed.
void synchronize();

/// A mark in the order of work, to wait for.
class Fence {
 public:
  Fence();
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  /// Behind all work so far.
  void set();
  /// Waits for the work before the mark; without one for nothing.
  void wait() const;

 private:
  void* event_;
};

/// Work that is recorded once and launched many times, at the cost of one launch. `work` only launches, on
/// memory that stays: it may neither wait for the GPU nor copy from or to the host. Throws Error if it does.
class Graph {
 public:
  explicit Graph(const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const;

 private:
  void* graph_;
  std::int64_t launches_;
};

/// Kernels and products that were launched so far, those of replayed graphs included.
std::int64_t launches();

/// A row-major matrix, its rows `row_stride` numbers apart; or what is its transpose.
template <class Number>
struct Matrix {
  Number* data;
  int row_stride;
  bool transposed = false;
};
/// How floats are multiplied: as they are; or rounded to 10 bits behind the point (TF32) or to 7 (bfloat16),
/// which is many times faster. They are added up as floats, and stay floats in memory.
enum class Precision { fp32, tf32, bf16 };
/// Of all products to come; fp32 before the first call.
void set_precision(Precision precision);

/// c [m, n] = a [m, k] b [k, n] + beta c, extents being those after transposition.
void gemm(int m, int n, int k, Matrix<const float> a, Matrix<const float> b, float beta, Matrix<float> c);
void gemm(int m, int n, int k, Matrix<const double> a, Matrix<const double> b, double beta, Matrix<double> c);

}  // namespace rondo::cuda
