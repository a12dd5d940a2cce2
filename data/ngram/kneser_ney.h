// Kneser-Ney smoothing, interpolated and modified: the n-gram model that recurrent models are compared with.
// Kneser & Ney 1995, "Improved backing-off for m-gram language modeling"; modified by Chen & Goodman 1998,
// "An Empirical Study of Smoothing Techniques for Language Modeling", TR-10-98, "Modified Kneser-Ney
// smoothing". Nothing is pruned. Read next: data/ngram/arpa.h.
//
// With h' the context h without its first symbol, k the order of h w, V the size of the vocabulary:
//   p(w | h) = (a(h w) - D_k(a(h w))) / sum_x a(h x) + b(h) p(w | h')
//   b(h)     = sum_j D_k(j) |{x : a(h x) = j}| / sum_x a(h x)            so that p(. | h) sums to one;
//   p(w | h) = p(w | h')  if the text has no h;      1 / V for p(w | h')  if h is empty.
//
// In the highest order n, the count a is the number of occurrences c; in lower orders, it is the number of
// contexts. Nothing can precede `<s>` (this formulation: Heafield et al. 2013, "Scalable Modified Kneser-Ney
// Language Model Estimation"):
//   a(g) = c(g)                      if g has n symbols, or begins with `<s>`
//   a(g) = |{v : c(v g) > 0}|        otherwise.
// Each order has three discounts, computed from n_j, the number of its n-grams with a = j:
//   Y = n_1 / (n_1 + 2 n_2)
//   D(j) = j - (j + 1) Y n_{j+1} / n_j     for j = 1, 2, 3;      D(j) = D(3) for j > 3;      D(0) = 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/ngram/ngram_model.h"

namespace rondo {

struct KneserNey {
  struct Discounts {
    std::array<double, 3> of{0.5, 1, 1.5};  // of n-grams counted once, twice, more often
    /// Whether the equations gave them. They fail if an n_j is 0 or a D(j) is not above 0: for a small text,
    /// and for the low orders of characters, of which hardly any is rare. Then the order uses the values
    /// above, which are those of lmplz --discount_fallback (KenLM).
    bool estimated = false;
  };
  std::vector<Discounts> discounts;  // by order, from 1
  NgramModel model;
};

/// From the ids of a training text, in [0, vocabulary_size). Lines end in `line_end` and start with `<s>`, so
/// that no n-gram crosses the end of a line; a text without line ends is one line. Every symbol gets a
/// probability above 0, also if the text does not contain it. Takes O(order x ids) time. Error if there are
/// no ids, for ids out of range, and for an order below 1.
KneserNey kneser_ney(std::span<const std::int32_t> ids, std::int64_t vocabulary_size,
                     std::optional<std::int32_t> line_end, int order);

}  // namespace rondo
