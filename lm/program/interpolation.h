// The models of `lm score`, whose probabilities are interpolated. Next: lm/commands/score.cpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/streams.h"
#include "lm/program/run.h"

namespace rondo {

/// Reads streams of symbols and says how probable they are.
class InterpolatedModel {
 public:
  virtual ~InterpolatedModel() = default;
  /// -log p in nats of each target of a chunk; of one that is not scored it means nothing. Each of its
  /// streams continues the stream `continues` of the last chunk, except where a chunk begins from the initial
  /// state.
  virtual std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) = 0;
};

/// A run and further models of its vocabulary. Their probabilities of each symbol are averaged by weights
/// (linear interpolation), so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  /// `others` are folders of runs or ARPA files. `weights` are divided by their sum; none: equal ones.
  /// InputErrors of open_run() and read_arpa(), and for another vocabulary, another number of weights, and
  /// weights that are all 0.
  Interpolation(const std::string& run, const std::vector<std::string>& others, std::vector<double> weights,
                Device device)
      : Interpolation(open_run(run, device), others, std::move(weights), device) {}

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Whether it is in all runs.
  bool unknown_is_trained() const { return unknown_is_trained_; }

  /// As InterpolatedModel::read().
  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues);

 private:
  Interpolation(OpenRun first, const std::vector<std::string>& others, std::vector<double> weights,
                Device device);
  void add_run(OpenRun run);
  void add_ngrams(const std::string& arpa);

  std::string first_;  // the folder of the run
  Vocabulary vocabulary_;
  std::vector<std::unique_ptr<InterpolatedModel>> models_;
  std::vector<double> weights_;  // their sum is 1
  bool unknown_is_trained_ = true;
};

}  // namespace rondo
