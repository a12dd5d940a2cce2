// Dropout of activations and of weights as modules. Dropout of symbols: nn/layers/embedding.h.
#pragma once

#include <string>
#include <utility>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "nn/module.h"
#include "tensor/pieces.h"

namespace rondo {

/// Sets elements to zero with a probability while training, with a new mask at each call.
struct Dropout : Module {
  /// `same_at_all_steps`: x is [T, B, W], and one mask [B, W] is used for all its steps (variational dropout,
  /// Gal & Ghahramani 2016).
  Dropout(Module& parent, std::string name, double p, bool same_at_all_steps = false)
      : Module(parent, std::move(name)), probability(p), variational(same_at_all_steps) {}

  Variable operator()(const Variable& x) {
    if (!training()) return x;
    const BatchSlice slice = random_state().slice;
    if (!variational) return dropout(x, probability, next_key(), slice);
    const int64_t B = x.shape()[1];
    const bool rows_follow = slice.batch == B || slice.batch == slice.whole;  // in the whole batch
    const bool by_rows = !x.value().contiguous() || computes_in_pieces(x.value().device());
    if (by_rows && rows_follow)  // if there are gaps between rows, no copy is made
      return dropout(x, probability, next_key(), {.batch = B, .first = slice.first, .whole = 0});
    const Variable drawn = mask(B, x.shape()[2]);
    if (!drawn.defined()) return x;
    const int64_t step = drawn.value().size();  // elements of a step: x is viewed as [T, B W]
    return reshape(reshape(x, {x.shape()[0], step}) * reshape(drawn, {step}), x.shape());
  }
  /// A mask [B, W] of 0 and 1 / (1 - probability); undefined if nothing is dropped.
  Variable mask(int64_t B, int64_t W) {
    if (!training() || probability == 0) return {};
    const Tensor drawn({B, W}, device());
    fill_dropout_mask(drawn, next_key(), probability, random_state().slice);
    return Variable(drawn);
  }

  DropRate probability;
  bool variational;
};

/// Drops elements of a weight while training, the same for all micro-batches of an update. Merity et al.
/// 2018; before them, as DropConnect, Wan et al. 2013.
struct WeightDrop : Module {
  WeightDrop(Module& parent, std::string name, double p) : Module(parent, std::move(name)), probability(p) {}

  Variable operator()(const Variable& weight) {
    return training() ? dropout(weight, probability, next_key(), BatchSlice{}) : weight;
  }

  DropRate probability;
};

}  // namespace rondo
