// `lm train`: from a recipe and a text to a run folder; resuming a run; and `lm finetune`, a training with
// other settings (lm/program/finetune.h) and given initial weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"
#include "lm/program/settings.h"

namespace rondo {

struct TrainOptions {
  std::string recipe;              // a name or a file; empty only with resume and base
  std::string base;                // `lm finetune`: a finished run
  std::vector<Setting> settings;   // in order of precedence: every --set, then the named flags
  std::string data;                // a folder with train.txt, or one text file; with base, empty: the base's
  std::string out;                 // the run folder; empty: runs/RECIPE-N or runs/RECIPE-finetuned-N
  std::optional<int> threads;      // none: threads.h
  std::optional<Device> device{};  // default: cpu, or that of a run which is resumed
  std::optional<Precision> precision{};  // default: fp32, or that of a run which is resumed
  std::string init_from;  // a run with the weights to begin with and the vocabulary; empty: none
  std::optional<double> max_minutes{};  // none: no limit
  bool resume = false;
  bool quiet = false;   // print only the run's folder, at the end
  std::string command;  // what was typed, for config.toml
};

/// Trains. Returns 0, or 128 + the signal that stopped it (lm/program/signals.h), once the state is saved.
int train(const TrainOptions& options);

}  // namespace rondo
