// Linear, Embedding and the dropouts as modules. The mathematics is autograd/linear.h and
// autograd/functions.h.
#pragma once

#include <cmath>
#include <memory>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators.h"
#include "nn/module.h"

namespace rondo {

/// y = x W^T + b. x [.., in], W [out, in], b [out].
struct Linear : Module {
  Linear(Module& parent, std::string name, int64_t in, int64_t out, Initializer weights, Initializer biases)
      : Module(parent, std::move(name)),
        weight(*this, "weight", {out, in}, weights),
        bias(*this, "bias", {out}, biases) {}
  /// With PyTorch's initial values, U(-1/sqrt(in), 1/sqrt(in)).
  Linear(Module& parent, std::string name, int64_t in, int64_t out)
      : Linear(parent, std::move(name), in, out, uniform_values(1 / std::sqrt(in)),
               uniform_values(1 / std::sqrt(in))) {}
  /// With a weight that another module holds: tying of input and output embedding (Press & Wolf 2017).
  Linear(Module& parent, std::string name, Parameter& tied, Initializer biases)
      : Module(parent, std::move(name)),
        weight(*this, "weight", tied),
        bias(*this, "bias", {tied.shape()[0]}, biases) {}

  Variable operator()(const Variable& x) const { return linear(x, weight, {bias}); }

  Parameter weight, bias;
};

/// A table of vectors [V, E]; ids [N] give [N, E].
struct Embedding : Module {
  Embedding(Module& parent, std::string name, int64_t vocabulary_size, int64_t size, Initializer weights)
      : Module(parent, std::move(name)), weight(*this, "weight", {vocabulary_size, size}, weights) {}

  Variable operator()(const Tokens& ids) const { return embedding(weight, ids); }

  Parameter weight;
};

/// Zeroes elements with a probability while training, with a fresh mask at each call.
struct Dropout : Module {
  /// `variational`: x is [T, B, W], and one mask [B, W] serves all its steps (Gal & Ghahramani 2016).
  Dropout(Module& parent, std::string name, double p, bool same_at_all_steps = false)
      : Module(parent, std::move(name)), probability(p), variational(same_at_all_steps) {}

  Variable operator()(const Variable& x) {
    if (!training()) return x;
    BatchSlice slice = random_state().slice;
    if (!variational) return dropout(x, probability, next_key(), slice);
    if (!x.value().contiguous()) {  // as rows of an odd width are on a GPU: they stay where they are
      slice.whole = 0;
      return dropout(x, probability, next_key(), slice);
    }
    const Variable drawn = mask(x.shape()[1], x.shape()[2]);
    if (!drawn.defined()) return x;
    const int64_t step = drawn.value().size();  // elements; the mask is a row for [T, B W]
    return reshape(reshape(x, {x.shape()[0], step}) * reshape(drawn, {step}), x.shape());
  }
  /// A mask [B, W] of 0 and 1 / (1 - probability); undefined where nothing is dropped.
  Variable mask(int64_t B, int64_t W) {
    if (!training() || probability == 0) return {};
    const Tensor drawn({B, W}, device());
    fill_dropout_mask(drawn, next_key(), probability, random_state().slice);
    return Variable(drawn);
  }

  double probability;
  bool variational;
};

/// Drops elements of a weight while training, the same for all micro-batches of an update. Merity et al.
/// 2018; before them, as DropConnect, Wan et al. 2013.
struct WeightDrop : Module {
  WeightDrop(Module& parent, std::string name, double p) : Module(parent, std::move(name)), probability(p) {}

  Variable operator()(const Variable& weight) {
    return training() ? dropout(weight, probability, next_key(), BatchSlice{}) : weight;
  }

  double probability;
};

/// Drops symbols while training: whole rows of an embedding's table, the same at all places of the symbol in
/// all micro-batches of an update. Gal & Ghahramani 2016, section 4; Merity et al. 2018, section 4.3.
struct EmbeddingDropout : Module {
  EmbeddingDropout(Module& parent, std::string name, double p)
      : Module(parent, std::move(name)), probability(p) {}

  /// vectors [N, E] are the rows `ids` of a table of V.
  Variable operator()(const Variable& vectors, const Tokens& ids, int64_t V) {
    if (!training() || probability == 0) return vectors;
    const Tensor of_symbols({V}, device()), of_places({std::ssize(*ids)}, device());
    fill_dropout_mask(of_symbols, next_key(), probability, BatchSlice{});
    gather_rows(of_symbols.reshaped({V, 1}), *ids, of_places.reshaped({std::ssize(*ids), 1}));
    return scale_rows(vectors, of_places);
  }

  double probability;
};

}  // namespace rondo
