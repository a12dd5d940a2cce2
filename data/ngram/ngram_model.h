// A back-off n-gram model: ln p(symbol | symbols before it), one symbol at a time. Names of
// symbols: data/text/vocabulary.h. Estimation: data/ngram/kneser_ney.h. Files: data/ngram/arpa.h. Read next:
// data/ngram/kneser_ney.h.
//
// With h' the context h without its first symbol (Katz 1987; ARPA files store any model in this form):
//   p(w | h) = p_h(w)            if the model has the n-gram h w,
//              b(h) p(w | h')    otherwise, with weight b(h) = 1 if the model has no n-gram h.
// The n-grams are a tree whose root is the empty context: each is a child of its context, and the children
// of a node are contiguous, sorted by symbol. Each n-gram has a link to the longest of its proper suffixes in
// the tree. So the context of a symbol is one node of the tree, and backing off follows a link (Aho &
// Corasick 1975).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rondo {

namespace detail {
/// A symbol, a state or a position as an index; it is not negative.
inline std::size_t index_of(std::int64_t it) { return static_cast<std::size_t>(it); }
}  // namespace detail

class NgramModel {
 public:
  /// The context: equal states give equal probabilities to everything that follows, so that a beam search can
  /// merge them. Cheap to copy; valid only for the model that returned it.
  using State = std::int32_t;

  struct Ngram {
    State context;                            // the n-gram without its last symbol
    std::int32_t symbol;                      // the last one
    double log_probability, log_backoff = 0;  // natural logarithms; -infinity for 0
  };

  /// A model of the symbols 0 to V - 1 without n-grams; V itself is the start of a line, `<s>`, which is only
  /// context.
  explicit NgramModel(std::int32_t symbols);

  /// Adds the n-grams of the next order, sorted by context and then symbol: first all V + 1 unigrams, with
  /// empty_context(); `<s>` (V) can only come first in an n-gram. Those of the highest order have the weight
  /// 1. Error for n-grams in another order, for contexts that are not n-grams of the order below, for symbols
  /// out of range, for a probability above 1, and for NaN.
  void add_order(const std::vector<Ngram>& ngrams);

  int order() const { return static_cast<int>(first_.size()) - 2; }
  std::int32_t symbols() const { return symbols_; }  // V
  std::int64_t ngrams(int order) const { return first(order + 1) - first(order); }
  /// The first n-gram of an order; the others follow it in the order in which they were added.
  State first(int order) const { return first_.at(static_cast<std::size_t>(order)); }

  State empty_context() const { return 0; }
  State line_start() const { return reduced(1 + symbols_); }

  struct Step {
    double log_probability;  // natural
    State next;              // the context of the symbol after this one
  };
  /// Throws Error for a symbol outside [0, V).
  Step step(State context, std::int32_t symbol) const;

  /// The n-gram of a context and a symbol, if the model has it.
  std::optional<State> find(State context, std::int32_t symbol) const;

  /// Calls `use` for each n-gram of an order, from 1 to order(), in the order in which they were added: its
  /// symbols, probability and weight.
  void for_each(int order, const std::function<void(std::span<const std::int32_t>, const Ngram&)>& use) const;

 private:
  static constexpr State none = -1;

  State child(State context, std::int32_t symbol) const;
  bool is_context(State node) const { return node + 1 < static_cast<State>(children_.size()); }
  State reduced(State node) const;

  std::int32_t symbols_;
  std::vector<State> first_{
      0};  // by order; the root is the only n-gram of order 0; then where the next one begins
  // By n-gram; the children of n are children_[n] to children_[n + 1] - 1; the highest order has none.
  std::vector<std::int32_t> symbol_;
  std::vector<State> suffix_, children_;
  std::vector<double> log_probability_, log_backoff_;
};

/// ln p of each id of a text: each line starts from `<s>`, its end `line_end` is scored, too, and no context
/// crosses it. A text without line ends is one line.
std::vector<double> log_probabilities(const NgramModel& model, std::span<const std::int32_t> ids,
                                      std::optional<std::int32_t> line_end);

}  // namespace rondo
