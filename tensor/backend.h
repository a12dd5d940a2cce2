// The number type, the device, and the two macros of a source that is compiled twice.
// Next: tensor/simd/scalar.h, tensor/simd/vec.h.
#pragma once

#include <cstdint>

// HD marks functions that run on host and device; BACKEND is the namespace of the current pass.
#ifdef __CUDACC__
#define HD __host__ __device__ __forceinline__
#define BACKEND cuda
#else
#define HD inline __attribute__((always_inline))
#define BACKEND cpu
#endif

namespace rondo {

/// The one number type. The library is float; the tests build the same sources once more in double.
#ifdef RONDO_DOUBLE
using real = double;
#else
using real = float;
#endif

/// A meta device has shapes and no memory: it counts the bytes that a CPU would allocate, or a GPU; it
/// computes nothing, and all numbers read from it are 0. So it tells what a computation would take
/// (lm/training/memory.h), whatever its size.
enum class Device { cpu, cuda, meta, meta_gpu };
/// The name that users write.
const char* name_of(Device device);

constexpr bool has_memory(Device device) { return device == Device::cpu || device == Device::cuda; }
/// Whether memory is laid out as on a GPU.
constexpr bool is_gpu(Device device) { return device == Device::cuda || device == Device::meta_gpu; }
/// The device that counts what this one would allocate.
constexpr Device meta_of(Device device) { return is_gpu(device) ? Device::meta_gpu : Device::meta; }

/// A matrix in memory as kernels see it: row r starts at data + r * row_stride. Stride 0 repeats one row.
struct Operand {
  real* data = nullptr;
  int64_t row_stride = 0;
  /// Where a kernel that writes the matrix writes it once more, rounded to bfloat16, for the products that
  /// read it (tensor/products/packed_gemm.h); null: nowhere. Rows are bf16_row_stride(row_stride) apart.
  uint16_t* rounded = nullptr;
};

/// The logical size that the operands of one launch share.
struct Extent {
  int64_t rows = 0;
  int64_t columns = 0;
};

/// A number that a kernel may know only when it runs. On a GPU a training step is recorded once and replayed
/// as a graph: what changes from step to step must then be read from an address that the graph contains
/// (tensor/recorded_work.h).
template <class T>
struct Deferred {
  T value{};
  const T* at = nullptr;  // on the kernel's device; null: use `value`

  constexpr Deferred() = default;
  constexpr Deferred(T known) : value(known) {}
  static constexpr Deferred found_at(const T* place) {
    Deferred it;
    it.at = place;
    return it;
  }
  /// Call in a kernel, when it runs.
  HD T now() const { return at ? *at : value; }
};

}  // namespace rondo
