// The number type, the device, and the two macros of a source that is compiled twice.
// Next: tensor/scalar.h, tensor/vec.h.
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

enum class Device { cpu, cuda };
/// The name that users write.
const char* name_of(Device device);

/// A matrix in memory as kernels see it: row r starts at data + r * row_stride. Stride 0 repeats one row.
struct Operand {
  real* data = nullptr;
  int64_t row_stride = 0;
};

/// The logical size that the operands of one launch share.
struct Extent {
  int64_t rows = 0;
  int64_t columns = 0;
};

}  // namespace rondo
