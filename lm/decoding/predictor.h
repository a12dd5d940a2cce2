// What a search needs from a model: the distribution of the next symbol after each of some hypotheses; and
// what it returns. Next: lm/decoding/beam_search.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// A model with a grid of hypotheses, K of each of B sentences: row k * B + b is hypothesis k of sentence b.
/// It begins with K = 1 hypothesis of each sentence, without symbols. Gradients are not needed.
class Predictor {
 public:
  Predictor() = default;
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;
  virtual ~Predictor() = default;

  /// Tensors on any device, valid until the next call.
  struct Prediction {
    Tensor log_p;        // of each next symbol, natural logarithms, [K * B, V]
    Tensor attention{};  // weights of the positions of the source, [K * B, S]; undefined if there are none
  };
  /// Reads one symbol of each hypothesis, K * B ids. The first ids are the end symbol: of the sentence
  /// before.
  virtual Prediction next(const std::vector<int32_t>& ids) = 0;
  /// Makes another grid of some rows of this one: B' of its columns, `sentences`, in ascending order, and
  /// K' rows of each. Row k * B' + b is the old row rows[k * B' + b], which is of the column sentences[b].
  virtual void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) = 0;

  virtual int64_t sentences() const = 0;  // B
  virtual int64_t vocabulary_size() const = 0;
  /// Columns of the attention that are not padding, of each sentence; empty: all of them.
  virtual std::vector<int64_t> source_lengths() const { return {}; }
};

/// Symbols with a meaning of their own.
struct SearchSymbols {
  int32_t end;                       // of a sentence
  std::optional<int32_t> unknown{};  // chosen only if the options of a search allow it
};

/// A sentence that a search has found.
struct Hypothesis {
  std::vector<int32_t> ids;  // without the end symbol
  double log_p = 0;          // of all symbols, with the end symbol of a finished one
  double score = 0;          // that hypotheses are ranked by
  bool finished = false;     // false: cut off at the maximal length
  /// If asked for, and if the model has attention: the weights when each symbol was predicted, and those of
  /// the end symbol of a finished one.
  std::vector<std::vector<float>> attention{};
};

}  // namespace rondo
