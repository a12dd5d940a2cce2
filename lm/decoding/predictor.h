// What a search needs from a model: the distribution of the next symbol after each of some hypotheses; and
// what it returns. Models that are fused, and n-gram models to search with. Next: lm/decoding/beam_search.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/ngram/ngram_model.h"
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

// --- Shallow fusion ---
// Gulcehre et al. 2015, "On Using Monolingual Corpora in Neural Machine Translation": a model whose
// hypotheses are scored by others as well, such as a language model of the target language.

/// log_p = log p of the model + the sum over the others of weight * log p. This is no distribution, and is
/// not made one. Attention and the device of the results are the model's.
class FusedPredictor : public Predictor {
 public:
  struct Other {
    Predictor& predictor;
    double weight;
  };
  /// All predictors must outlive it and be used by nobody else; that an id is the same symbol for all of them
  /// is the caller's concern. Others of weight 0 are left out. Error for other numbers of sentences or
  /// symbols than the model's, and for a weight below 0, with which a longer hypothesis could become more
  /// probable.
  FusedPredictor(Predictor& model, std::vector<Other> others);

  Prediction next(const std::vector<int32_t>& ids) override;
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override;
  int64_t sentences() const override { return model_.sentences(); }
  int64_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::vector<int64_t> source_lengths() const override { return model_.source_lengths(); }

 private:
  Predictor& model_;
  std::vector<Other> others_;
};

// --- N-gram models ---
// To search with, or to fuse with another model: data/ngram/ngram_model.h.

/// Hypotheses are lines: they start from `<s>`. A symbol that the model gives probability 0 ends up with
/// probability 0 in a fusion, too.
class NgramPredictor : public Predictor {
 public:
  /// `model` must outlive it; `line_end` is its id of the end symbol. Error if there is no such symbol.
  NgramPredictor(const NgramModel& model, int32_t line_end, int64_t sentences);

  /// On the host.
  Prediction next(const std::vector<int32_t>& ids) override;
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override;
  int64_t sentences() const override { return sentences_; }
  int64_t vocabulary_size() const override { return model_.symbols(); }

 private:
  const NgramModel& model_;
  int32_t line_end_;
  int64_t sentences_;
  std::vector<NgramModel::State> contexts_;  // by row
};

}  // namespace rondo
