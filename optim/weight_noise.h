// Gaussian weight noise (Graves 2013, "Generating Sequences With Recurrent Neural Networks", and Graves,
// Mohamed & Hinton 2013): the gradients of an update are those of weights with noise, the update is of the
// weights without. It keeps a model from relying on exact weights. Next: lm/training/trainer.cpp.
#pragma once

#include <vector>

#include "tensor/random.h"
#include "tensor/segment.h"

namespace rondo {

/// While it exists, normal noise of the given deviation and mean 0 is added to the weights `values`, a flat
/// buffer such as model.values(). They are restored exactly, however the scope is left. A deviation of 0 does
/// nothing.
class NoisyWeights {
 public:
  /// `key` is of the update; each segment draws under its own name.
  NoisyWeights(const Tensor& values, const std::vector<Segment>& segments, double deviation, RandomKey key);
  ~NoisyWeights();
  NoisyWeights(const NoisyWeights&) = delete;
  NoisyWeights& operator=(const NoisyWeights&) = delete;

 private:
  Tensor values_, clean_;  // clean_ is undefined if there is nothing to undo
};

}  // namespace rondo
