// Stands in for CUDA's header on the emulated GPU: tiles that a warp multiplies. Its first thread holds all
// of a tile, and computes.
#pragma once

#include <cstdint>

#include "tests/emulated_gpu/cuda_runtime.h"

namespace rondo::emulated_gpu {
/// A float in TF32.
float in_tf32(float x);
/// Ends the program unless a tile may begin there, with rows so many bytes apart.
void check_tile(const void* address, unsigned long row_bytes);
}  // namespace rondo::emulated_gpu

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
enum layout_t { mem_row_major };
namespace precision {
struct tf32 {};
}  // namespace precision

template <class Use>
struct Extent;
template <>
struct Extent<matrix_a> {
  static constexpr int rows(int m, int, int) { return m; }
  static constexpr int columns(int, int, int k) { return k; }
};
template <>
struct Extent<matrix_b> {
  static constexpr int rows(int, int, int k) { return k; }
  static constexpr int columns(int, int n, int) { return n; }
};
template <>
struct Extent<accumulator> {
  static constexpr int rows(int m, int, int) { return m; }
  static constexpr int columns(int, int n, int) { return n; }
};

template <class Use, int m, int n, int k, class Factor, class Layout = void>
struct fragment {
  static constexpr int rows = Extent<Use>::rows(m, n, k), columns = Extent<Use>::columns(m, n, k);
  float tile[rows][columns];
};

inline bool computes() { return threadIdx.x % 32 == 0; }

template <class Use, int m, int n, int k, class Factor, class Layout>
void fill_fragment(fragment<Use, m, n, k, Factor, Layout>& to, float value) {
  if (!computes()) return;
  for (auto& row : to.tile)
    for (float& x : row) x = value;
}
template <class Use, int m, int n, int k, class Factor, class Layout, class Stored>
void load_matrix_sync(fragment<Use, m, n, k, Factor, Layout>& to, const Stored* from, unsigned stride) {
  rondo::emulated_gpu::check_tile(from, stride * sizeof(Stored));
  if (!computes()) return;
  for (int i = 0; i < to.rows; ++i)
    for (int j = 0; j < to.columns; ++j) to.tile[i][j] = from[i * stride + j];
}
template <int m, int n, int k, class Factor>
void mma_sync(fragment<accumulator, m, n, k, float>& to,
              const fragment<matrix_a, m, n, k, Factor, row_major>& a,
              const fragment<matrix_b, m, n, k, Factor, row_major>& b,
              const fragment<accumulator, m, n, k, float>& c) {
  if (!computes()) return;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = c.tile[i][j];
      for (int l = 0; l < k; ++l) sum += a.tile[i][l] * b.tile[l][j];
      to.tile[i][j] = sum;
    }
}
template <int m, int n, int k>
void store_matrix_sync(float* to, const fragment<accumulator, m, n, k, float>& from, unsigned stride,
                       layout_t) {
  rondo::emulated_gpu::check_tile(to, stride * sizeof(float));
  if (!computes()) return;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) to[i * stride + j] = from.tile[i][j];
}
inline float __float_to_tf32(float x) { return rondo::emulated_gpu::in_tf32(x); }

}  // namespace nvcuda::wmma
