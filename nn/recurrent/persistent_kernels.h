// What the host gives the persistent kernel, and what the kernel needs from the GPU. Called by
// nn/recurrent/persistent_layer.cpp.
#pragma once

#include <typeindex>
#include <vector>

#include "nn/recurrent/persistent_plan.h"
#include "tensor/precision.h"

namespace rondo {

/// A matrix [B, ..] for each step.
struct Series {
  real* data = nullptr;
  int64_t row_stride = 0, step_stride = 0;

  HD real& at(int64_t t, int64_t row, int64_t column) const {
    return data[t * step_stride + row * row_stride + column];
  }
};

constexpr int max_stages = 2, max_join_vectors = 4;

struct StageOperands {
  Operand weight;    // [gates width, inner]
  int inner, width;  // units that it reads, that it gives
  int units;         // of its width that a block owns
  Series x;          // [T, B, gates width]
  Series product;    // U e, kept for backward
  Series output;     // y [T, B, width]; of the last stage not used: h
  const real* vectors[max_join_vectors] = {};
  // What the blocks tell each other, in two halves that take turns from step to step: e, [2, padded rows,
  // exchange_stride] of numbers of the kernel's precision; backward, the gradient of U e.
  void* exchange;
  int64_t exchange_stride;
  // Backward.
  Series gradient;    // of the join's result z
  Operand of_output;  // of y, in a step
};

struct LayerOperands {
  int T, B, row_tiles;
  StageOperands stages[max_stages];
  Series h, c, kept;  // h and c [T + 1, B, H], from the initial state on; kept [T, B, H]
  Operand mask;       // of h, where recurrent weights read it; null: none
  Series seen;        // h times the mask, as h; null: it is not needed
  real* products;     // of one block at a time: see products_of_block()
  int64_t products_of_block;
  // Backward: the gradients of the output, and those that flow back, at first those of the last state.
  Series of_output;
  Operand of_h, of_c, of_kept;
};

/// Into how many parts the terms of a product are divided, each summed by a warp of its own, if rows fill
/// only a few tiles. The parts are added in their order.
constexpr int persistent_warps = 8;
constexpr int parts_of_product(int row_tiles) {
  return row_tiles < persistent_warps ? persistent_warps / row_tiles : 1;
}

enum class Pass { forward, backward };

/// The kernel of one list of stages; the passes in each precision. It needs as many blocks at the same time
/// as it is launched with.
struct PersistentKernel {
  std::type_index stages;
  /// Whether the GPU can run so many blocks of it, with so many bytes of shared memory each, at the same
  /// time.
  bool (*fits)(Pass pass, Precision precision, int64_t blocks, int64_t bytes);
  void (*launch)(Pass pass, Precision precision, int64_t blocks, int64_t bytes,
                 const LayerOperands& operands);
};

namespace cuda {
/// Those of this machine's GPU.
PersistentLimits persistent_limits();
/// One for each of PersistentCells.
const std::vector<PersistentKernel>& persistent_kernels();
}  // namespace cuda

}  // namespace rondo
