// The sum of a model's gradients over ranks of GPUs, in a few pieces: a piece is added up while backward
// still computes gradients of others. Backward comes to the layers of a model in the opposite order of their
// place in the buffer, so the pieces begin at its end. Li et al. 2020, "PyTorch Distributed: Experiences on
// Accelerating Data Parallel Training", call pieces buckets. Used by lm/training/trainer.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/training/ranks.h"
#include "nn/module.h"

namespace rondo {

class GradientSum {
 public:
  /// Pieces of whole parameters, with `least` elements or more, except perhaps the last one to begin. They
  /// depend on the model alone, and so are the same on all ranks. The model and the ranks outlive this.
  GradientSum(const Module& model, Ranks& ranks, int64_t least);
  /// There are at most four pieces: each costs a message's latency 2 (N - 1) times (docs/scale.md). None has
  /// fewer than 4 million numbers: the sum of a small model is short.
  GradientSum(const Module& model, Ranks& ranks);

  /// Called before backward: no gradient is complete.
  void begin();
  /// Called by backward, once with the gradient of each parameter, which is complete: begins the sums
  /// of complete pieces, each after those behind it in the buffer.
  void completed(const Tensor& gradient);
  /// Called when all gradients are complete: begins the sums of the other pieces. What is queued later finds
  /// the sums.
  void finish();

 private:
  struct Piece {
    int64_t begin, end;   // in elements
    int64_t parameters;   // that lie in it
    int64_t missing = 0;  // those that are not complete
  };
  void begin_next_piece();

  Tensor gradients_;
  Ranks& ranks_;
  std::vector<Piece> pieces_;  // the last in the buffer first
  size_t begun_ = 0;           // pieces whose sums have begun
};

}  // namespace rondo
