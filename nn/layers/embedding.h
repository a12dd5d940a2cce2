// Embedding, and dropout of symbols, as modules. The mathematics is in autograd/functions.h.
#pragma once

#include <string>
#include <utility>

#include "autograd/functions.h"
#include "nn/module.h"

namespace rondo {

/// A table of vectors [V, E]; ids [N] give [N, E]. PyTorch's initial values are N(0, 1).
struct Embedding : Module {
  Embedding(Module& parent, std::string name, int64_t vocabulary_size, int64_t size,
            const InitialValues& values = {})
      : Module(parent, std::move(name)),
        weight(*this, "weight", {vocabulary_size, size}, values.initializer().value_or(normal_values(1))) {}

  Variable operator()(const Tokens& ids) const { return embedding(weight, ids); }

  Parameter weight;
};

/// Drops symbols while training: whole rows of an embedding's table, the same for all occurrences of a symbol
/// in all micro-batches of an update. Gal & Ghahramani 2016, section 4; Merity et al. 2018, section 4.3.
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

  DropRate probability;
};

}  // namespace rondo
