// Settings of the program around a training: how often `lm train` evaluates, logs and saves, what it prints
// at the end, and the settings of `lm finetune`.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/keys.h"

namespace rondo {

struct RunOptions {
  std::int64_t eval_every = 0, log_every = 100;  // steps
  std::int64_t probe_every = 0;                  // epochs
  double save_every = 5;                         // minutes
  bool tensorboard = false;
};
Keys keys_of(RunOptions& options);

struct ReportOptions {
  bool ngrams = false;
  std::int64_t sample = 0;  // symbols
};
Keys keys_of(ReportOptions& options);

struct FinetuneOptions {
  std::optional<double> learning_rate{};  // none: that of the training, if it used SGD
  std::int64_t epochs = 100;
};
Keys keys_of(FinetuneOptions& options);

}  // namespace rondo
