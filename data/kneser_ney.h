// Kneser-Ney smoothing, interpolated and modified: the n-gram model that recurrent models are compared with.
// Kneser & Ney 1995, "Improved backing-off for m-gram language modeling"; modified by Chen & Goodman 1998,
// "An Empirical Study of Smoothing Techniques for Language Modeling", TR-10-98, "Modified Kneser-Ney
// smoothing". It keeps every n-gram and deliberately prunes nothing. Read next: data/arpa.h.
//
// With h' the context h without its first symbol, k the order of h w, V the size of the vocabulary:
//   p(w | h) = (a(h w) - D_k(a(h w))) / sum_x a(h x) + b(h) p(w | h')
//   b(h)     = sum_j D_k(j) |{x : a(h x) = j}| / sum_x a(h x)            so that p(. | h) sums to one;
//   p(w | h) = p(w | h')  where the text has no h;      1 / V for p(w | h')  where h is empty.
//
// The counts a are, in the highest order n, how often the n-gram occurs, c, and below in how many contexts;
// before `<s>` nothing can stand (in this wording Heafield et al. 2013, "Scalable Modified Kneser-Ney
// Language Model Estimation"):
//   a(g) = c(g)                      if g has n symbols, or begins with `<s>`
//   a(g) = |{v : c(v g) > 0}|        otherwise.
// Each order has three discounts, from n_j, how many of its n-grams have a = j:
//   Y = n_1 / (n_1 + 2 n_2)
//   D(j) = j - (j + 1) Y n_{j+1} / n_j     for j = 1, 2, 3;      D(j) = D(3) for j > 3;      D(0) = 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/ngram_model.h"

namespace rondo {

struct KneserNey {
  struct Discounts {
    std::array<double, 3> of{0.5, 1, 1.5};  // of n-grams counted once, twice, more often
    /// Whether the equations gave them. They do not where an n_j is 0 or a D(j) not above 0: for a small
    /// text, and for the low orders of characters, of which hardly any is rare. Then the order has the values
    /// above, which are those of lmplz --discount_fallback (KenLM).
    bool estimated = false;
  };
  std::vector<Discounts> discounts;  // by order, from 1
  NgramModel model;
};

/// From ids of a training text in [0, vocabulary_size). Lines end in `line_end` and are read from `<s>` on,
/// so that no n-gram crosses a line's end; a text without line ends is one line. Every symbol gets a
/// probability above 0, those that do not occur in the text as well. Takes O(order x ids) time. Error for no
/// ids, for those out of range, and for an order below 1.
KneserNey kneser_ney(std::span<const std::int32_t> ids, std::int64_t vocabulary_size,
                     std::optional<std::int32_t> line_end, int order);

}  // namespace rondo
