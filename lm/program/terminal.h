// The terminal as an observer of a training: a progress line, and a line for each evaluation.
#pragma once

#include <functional>
#include <string>

#include "lm/program/progress.h"
#include "lm/program/recipe.h"
#include "lm/program/window.h"
#include "lm/training/observer.h"

namespace rondo {

/// The usual figure for the recipe's unit: perplexity for words, bits for characters and bytes.
std::string figure_text(const Recipe& recipe, double nats);
/// A figure with all its values: "1.2345 nats  1.7810 bits  perplexity 3.44", "bleu 35.12", "cer 3.20  wer
/// 8.10  0.2100 nats".
std::string values_text(TaskKind kind, const Figure& figure);
/// What was scored, and how: "80 characters by greedy search".
std::string scored_text(const Figure& figure);

class Terminal : public Observer {
 public:
  explicit Terminal(const Recipe& recipe) : recipe_(recipe), progress_(stdout) {}

  bool is_due(const Trainer&) const override { return progress_.due(); }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override;
  void validated(const Trainer& trainer, const Figure& figure, bool best) override;
  void began_with(const Figure& figure) override;
  void measured(const std::string& split, const Figure& figure) override;

  /// A line that stays.
  void line(const std::string& text) { progress_.line(text); }
  /// A function that shows the progress of `what`, which reads `symbols` symbols.
  std::function<void(int64_t)> progress_of(const std::string& what, size_t symbols);

 private:
  void evaluation(const std::string& model, const std::string& split, const Figure& figure, bool best);

  const Recipe& recipe_;
  Progress progress_;
  Window window_;  // restarts with each line of the log
};

}  // namespace rondo
