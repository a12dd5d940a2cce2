// The neural cache, Grave, Joulin & Usunier 2017, "Improving Neural Language Models with a Continuous Cache":
//   p = (1 - lambda) p_model + lambda p_cache,
//   p_cache(w) = sum over the last `window` positions i of softmax_i(theta h_t . h_i) [x_(i+1) = w],
// where h_i is the output of the last recurrent layer after x_i, before its dropout. The cache is empty at
// first; while it is empty, p = p_model. (The published code of AWD-LSTM uses it only when it is full.) The
// loop over the text: lm/evaluation/adaptive_evaluation.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/keys.h"
#include "tensor/tensor.h"

namespace rondo {

struct CacheOptions {
  int64_t window = 2000;
  double theta = 1, lambda = 0.1;
};
Keys keys_of(CacheOptions& options);

/// The cache's probabilities for one text, read from its beginning, for several windows and thetas at once,
/// which share the products of states.
class NeuralCache {
 public:
  /// States have `width` numbers; windows are 1 or more. InputError if that takes more memory than is
  /// available.
  NeuralCache(std::vector<int64_t> windows, std::vector<double> thetas, int64_t width);

  /// What read() returns for a target while the cache is empty.
  static constexpr double empty = -1;
  /// Reads the next positions of the text: their states, [n, width] as a matrix, and the n symbols after
  /// them. Returns p_cache of each symbol under each setting, element (r * windows + w) * thetas + t, and
  /// stores the symbols in the cache for later positions.
  std::vector<double> read(const Tensor& states, const std::vector<int32_t>& targets);

  /// The memory of one cache, in bytes.
  static int64_t memory(int64_t window, int64_t width);
  /// Throws the InputError of the constructor.
  static void check_fits(int64_t window, int64_t width);

 private:
  void read_block(const Tensor& states, const int32_t* targets, double* probabilities);

  std::vector<int64_t> windows_;
  std::vector<double> thetas_;
  int64_t window_;  // the largest
  // The stored positions end before row end_ of these, and the largest window begins window_ rows earlier.
  // Rows below first_ are unused: there the window would begin before the text.
  Tensor states_;               // [2 window + block, width]
  std::vector<int32_t> nexts_;  // the symbol after each
  int64_t end_, first_;
  Tensor products_, scores_;  // [block, window + block]: h_t . h_i, and times theta
};

/// -log((1 - lambda) p + lambda cached) for p = exp(-nats); `nats` where the cache was empty.
double mixed_nats(double nats, double cached, double lambda);

}  // namespace rondo
