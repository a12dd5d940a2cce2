// The GPU as the rest of Rondo sees it: whether there is one, its memory, copies to and from it, products.
// Everything runs on one stream, in order. It deliberately knows no Tensor and shows no type of CUDA's, so
// that sources of g++ include it; in a build without CUDA it says so (cuda/absent.cpp). Next:
// cuda/runtime.cu, cuda/launch.h.
#pragma once

#include <cstddef>
#include <string>

namespace rondo::cuda {

/// Why nothing can be computed on a GPU here, in one line; empty where it can.
std::string unavailable();

/// "NVIDIA H200, 139.8 GiB, compute capability 9.0, driver 13.0".
std::string description();

/// Memory of the driver's, null where it has no more; tensor/allocator.h keeps it for further use.
void* system_block(std::size_t bytes);
void free_system_block(void* block);
/// Free and in all, in bytes.
struct Memory {
  std::size_t free, all;
};
Memory memory();

/// Copies; a download waits for all work before it.
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);
/// Waits for all work. Throws Error, naming the kernel's failure, if some of it failed.
void synchronize();

/// A row-major matrix, its rows `row_stride` numbers apart; or what is its transpose.
template <class Number>
struct Matrix {
  Number* data;
  int row_stride;
  bool transposed = false;
};
/// c [m, n] = a [m, k] b [k, n] + beta c, extents being those after transposition. Floats are multiplied as
/// floats, not rounded to TF32.
void gemm(int m, int n, int k, Matrix<const float> a, Matrix<const float> b, float beta, Matrix<float> c);
void gemm(int m, int n, int k, Matrix<const double> a, Matrix<const double> b, double beta, Matrix<double> c);

}  // namespace rondo::cuda
