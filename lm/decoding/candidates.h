// The best continuations of a sentence's hypotheses by one more symbol, without sorting the vocabulary: most
// symbols cost one comparison, with the worst of the best so far. Used by lm/decoding/beam_search.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/backend.h"

namespace rondo {

/// A hypothesis and its next symbol.
struct Candidate {
  double log_p;  // of the hypothesis with that symbol
  int64_t hypothesis;
  int32_t symbol;
};

/// The distributions of the next symbol of a sentence's hypotheses: hypothesis k has the log probabilities
/// data[k * row_stride] to data[k * row_stride + symbols - 1].
struct NextSymbols {
  const real* data;
  int64_t row_stride, symbols;
};

/// Replaces `best` by the `count` best candidates, or all if there are fewer, best first; equal ones in the
/// order of hypothesis and symbol. Hypothesis k has log probability log_p[k] itself. Candidates of
/// probability 0 are left out, and those of the symbol `banned`. If a probability is not a number, it is the
/// only candidate. Takes no memory if `best` has a capacity of `count`.
void find_best(const NextSymbols& next, std::span<const double> log_p, int64_t count,
               std::optional<int32_t> banned, std::vector<Candidate>& best);

}  // namespace rondo
