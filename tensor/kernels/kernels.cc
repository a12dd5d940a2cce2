// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// The launchers of the kernels' list, for the current pass. Nothing here changes when a kernel is added.
#include "tensor/kernels/kernels.h"

#include "tensor/kernels/launch.h"

namespace rondo::BACKEND {

constexpr KernelLaunchers kernel_launchers = launchers_of(Kernels{});

}  // namespace rondo::BACKEND
