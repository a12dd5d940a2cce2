// The neural cache, Grave, Joulin & Usunier 2017, "Improving Neural Language Models with a Continuous Cache":
//   p = (1 - lambda) p_model + lambda p_cache,
//   p_cache(w) = sum over the last `window` positions i of softmax_i(theta h_t . h_i) [x_(i+1) = w],
// where h_i is the output of the last recurrent layer after x_i, before its dropout. The cache grows from
// empty; while it is empty, p is the model's. (The published code of AWD-LSTM waits until it is full.)
// Deliberately not the reading: lm/evaluation/adaptive_evaluation.h.
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

/// The cache's probabilities of one text, read from its beginning, for several windows and thetas at once:
/// they share the products of states.
class NeuralCache {
 public:
  /// Of states of `width` numbers. InputError if that takes more memory than is available: it names a window
  /// that fits. Windows are 1 or more.
  NeuralCache(std::vector<int64_t> windows, std::vector<double> thetas, int64_t width);

  /// What read() gives for a target before which there was nothing to remember.
  static constexpr double empty = -1;
  /// The next positions of the text: their states, [n, width] as a matrix, and the n symbols after them.
  /// p_cache of each symbol under each setting, element (r * windows + w) * thetas + t; the symbol is
  /// remembered for the positions after it.
  std::vector<double> read(const Tensor& states, const std::vector<int32_t>& targets);

  /// Of one cache, in bytes.
  static int64_t memory(int64_t window, int64_t width);
  /// The InputError above.
  static void check_fits(int64_t window, int64_t width);

 private:
  void read_block(const Tensor& states, const int32_t* targets, double* probabilities);

  std::vector<int64_t> windows_;
  std::vector<double> thetas_;
  int64_t window_;  // the largest
  // What is remembered ends at row end_ of these, and the largest window begins window_ rows before. Rows
  // below first_ hold nothing: where the window reaches beyond the beginning of the text.
  Tensor states_;               // [2 window + block, width]
  std::vector<int32_t> nexts_;  // the symbol after each
  int64_t end_, first_;
  Tensor products_, scores_;  // [block, window + block]: h_t . h_i, and times theta
};

/// -log((1 - lambda) p + lambda cached) for p = exp(-nats); `nats` where the cache was empty.
double mixed_nats(double nats, double cached, double lambda);

}  // namespace rondo
