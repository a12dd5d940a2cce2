// The kernels that are not pointwise operators: each a struct whose body computes on both devices, and a list
// at the end of each file. To add one, write it where it belongs and put it on that list. Callers check
// shapes; kernels do not. What a kernel is: tensor/kernels/kernel.h. How it is run: tensor/kernels/launch.h.
#pragma once

#include <array>

#include "tensor/kernels/arithmetic.h"
#include "tensor/kernels/ctc.h"
#include "tensor/kernels/dropout.h"
#include "tensor/kernels/kernel.h"
#include "tensor/kernels/normalization.h"
#include "tensor/kernels/rows.h"
#include "tensor/kernels/softmax.h"
#include "tensor/kernels/step.h"

namespace rondo {

using Kernels = JoinedLists<ArithmeticKernels, RowKernels, SoftmaxKernels, NormalizationKernels,
                            DropoutKernels, SequenceKernels, CtcKernels, StepKernels>;

/// One for each of Kernels, in their order; tensor/kernels/kernels.cc defines them, once per pass.
using KernelLaunchers = std::array<KernelLauncher, length_of(Kernels{})>;
namespace cpu {
extern const KernelLaunchers kernel_launchers;
}
namespace cuda {
extern const KernelLaunchers kernel_launchers;
}
/// Those of a device. Throws Error for CUDA in a build without it.
const KernelLaunchers& kernel_launchers(Device device);

/// Runs a kernel on a matrix of the given size:
///
///   launch(y.device(), y.extent(), Softmax{x.read_operand(), y.write_operand()});
template <class Kernel>
void launch(Device device, Extent extent, const Kernel& kernel) {
  constexpr std::size_t position = position_in<Kernel>(Kernels{});
  static_assert(position < length_of(Kernels{}), "add the kernel to a list of tensor/kernels/");
  kernel_launchers(device)[position](&kernel, extent);
}

}  // namespace rondo
