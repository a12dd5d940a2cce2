// The terminal as an observer of a training: a progress line, and a line for each evaluation.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lm/program/progress.h"
#include "lm/program/recipe.h"
#include "lm/program/window.h"
#include "lm/training/observer.h"

namespace rondo {

/// The usual figure for the recipe's unit: perplexity for words, bits for characters and bytes.
std::string figure_text(const Recipe& recipe, double nats);
/// All metrics: "1.2345 nats  1.7810 bits  perplexity 3.44", "bleu 35.12", "cer 3.20  wer 8.10  0.2100 nats".
std::string values_text(const Scores& scores);
/// What was scored, and how: "80 characters by greedy search".
std::string scored_text(const Scores& scores);

class Terminal : public Observer {
 public:
  /// A quiet one prints nothing.
  explicit Terminal(const Recipe& recipe, bool quiet = false)
      : recipe_(recipe), progress_(stdout), quiet_(quiet) {}

  bool is_due(const Trainer&) const override { return !quiet_ && progress_.due(); }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override;
  void validated(const Trainer& trainer, const Scores& scores, bool best) override;
  void began_with(const Scores& scores) override;
  void measured(const std::string& split, const Scores& scores) override;

  /// The time left is no more than these seconds from now on, when --max-minutes end the training.
  void ends_after(double seconds) { begin_ = Clock::now(), limit_ = seconds; }

  /// The training was resumed within an epoch, at this step: its loss is that of the rest.
  void resumed_at(std::int64_t step) { resumed_at_ = step; }

  /// A line that stays.
  void line(const std::string& text) {
    if (!quiet_) progress_.line(text);
  }
  /// Before something else is written to the terminal.
  void erase() { progress_.erase(); }
  /// A function that shows the progress of `what`, which reads `symbols` symbols.
  std::function<void(int64_t)> progress_of(const std::string& what, size_t symbols);

 private:
  std::vector<std::string> status_of(const Trainer& trainer) const;
  void evaluation(const std::string& what, const Scores& scores, bool best);

  const Recipe& recipe_;
  Progress progress_;
  bool quiet_;
  Clock::time_point begin_;
  std::optional<double> limit_;  // seconds since begin_
  Window window_;                // restarts with each line of the log
  Window since_evaluation_;      // of the weights in training
  std::int64_t resumed_at_ = 0;  // after the last evaluation; 0: not
};

/// Prints a warning on stderr, of a quiet training, too.
void warn(Terminal& terminal, const std::string& text);

}  // namespace rondo
