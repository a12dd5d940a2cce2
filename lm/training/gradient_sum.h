// The sum of a model's gradients over ranks, in pieces: on GPUs a piece is added up while backward still
// computes the gradients of parameters that were made earlier. Backward completes gradients in the opposite
// order of their place in the buffer (autograd/engine.cpp), so the pieces begin at its end. Li et al. 2020,
// "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", call pieces buckets. Used by
// lm/training/trainer.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/training/ranks.h"
#include "nn/module.h"

namespace rondo {

class GradientSum {
 public:
  /// In elements: 16 MiB, which a network of 25 GB/s carries in 0.7 ms, much longer than a message's latency.
  static constexpr int64_t default_piece = int64_t{1} << 22;

  /// Pieces of whole parameters, with `least` elements or more, except perhaps the last to begin. They depend
  /// on the model alone, and so are the same on all ranks. The model and the ranks outlive this.
  GradientSum(const Module& model, Ranks& ranks, int64_t least = default_piece);

  /// To be called by backward with the gradient of each parameter, which is complete, and so are those behind
  /// it in the buffer: begins the sums of complete pieces.
  void completed(const Tensor& gradient);
  /// All gradients are complete: begins the sums of the other pieces. What is queued later finds the sums.
  void finish();

 private:
  void begin_pieces_from(int64_t place);

  Tensor gradients_;
  Ranks& ranks_;
  std::vector<int64_t> begins_;  // of the pieces, in elements, the last in the buffer first
  size_t begun_ = 0;             // pieces whose sums have begun
};

}  // namespace rondo
