// The runs of `lm score`, whose probabilities are interpolated. Next: lm/program/score.cpp.
#pragma once

#include <string>
#include <vector>

#include "data/streams.h"
#include "lm/program/run.h"

namespace rondo {

/// Runs of one vocabulary. Their probabilities of each symbol are averaged by weights (linear interpolation),
/// so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  /// `weights` are divided by their sum; none: equal ones. InputErrors of open_run(), and for another
  /// vocabulary, another number of weights, and weights that are all 0.
  Interpolation(const std::vector<std::string>& runs, std::vector<double> weights, Device device);

  const Vocabulary& vocabulary() const { return runs_.front().vocabulary; }
  /// Whether it is in all runs.
  bool unknown_is_trained() const;

  /// -log p in nats of each target of a chunk; of one that is not scored it means nothing. Each of its
  /// streams continues the stream `continues` of the last chunk, except where a chunk begins from the initial
  /// state.
  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues);

 private:
  std::vector<OpenRun> runs_;
  std::vector<double> weights_;  // their sum is 1
  std::vector<std::vector<State>> states_;
};

}  // namespace rondo
