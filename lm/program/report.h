// What a training shows on the terminal and writes into log.jsonl. It deliberately decides nothing: the loop
// is lm/program/train.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "data/files.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/progress.h"
#include "lm/program/run_folder.h"
#include "lm/training/training.h"

namespace rondo {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

/// The figure that a reader of this unit expects: perplexity for words, bits for the rest.
std::string figure_text(const Recipe& recipe, double nats);

class Report {
 public:
  /// The log goes on at a position in bytes; what lies behind it is cut off.
  Report(const Recipe& recipe, const RunFolder& run, int64_t log_position, Device device)
      : recipe_(recipe), log_(run.log(), log_position), progress_(stdout), device_(device) {}

  void line(const std::string& text) { progress_.line(text); }
  int64_t sync() { return log_.sync(); }

  /// Whether update() would show or log something now.
  bool is_due(const Training& training) const;
  /// After some steps: the progress line, and every log_every steps a line of log.jsonl.
  void update(const Training& training, const Training::Update& update);
  void validation(const Training& training, const Evaluation& it, const Reading& reading, bool best);
  /// Of the model that a finetuning begins with.
  void base_model(const Evaluation& it, const Reading& reading);
  /// Of the best model, when training is over.
  void best_model(const std::string& split, const Evaluation& it, const Reading& reading);

  /// For `what` is done with so many symbols.
  std::function<void(int64_t)> progress_of(const std::string& what, size_t symbols);

 private:
  struct Moment {
    int64_t step = 0, epoch = 0;
    double seconds = 0;
  };
  void show(const Training& training);
  void evaluation(const std::string& model, const std::optional<Moment>& when, const std::string& split,
                  const Evaluation& it, const Reading& reading, bool best);
  void begin_window();

  const Recipe& recipe_;
  LineFile log_;
  Progress progress_;
  Device device_;
  // Since the last line of the log:
  double nats_ = 0;
  int64_t symbols_ = 0;
  Clock::time_point window_start_ = Clock::now();
};

}  // namespace rondo
