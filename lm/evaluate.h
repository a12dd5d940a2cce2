// `lm eval`: how well a run predicts a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rondo {

struct EvaluateOptions {
  std::string run;
  std::string split = "valid";          // train, valid or test of the run's data; ignored when text is given
  std::string text;                     // a file
  std::optional<std::int64_t> streams;  // none: the recipe's eval_streams
  bool json = false;
  std::optional<int> threads;
  std::string device = "cpu";
};

/// Prints nats, bits, perplexity and the number of symbols on stdout. Returns 0.
int evaluate(const EvaluateOptions& options);

}  // namespace rondo
