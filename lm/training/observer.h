// Observers of a training, which do not change it: the terminal, the log, or others such as plots. Next:
// lm/program/terminal.h, lm/program/log.h.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lm/training/trainer.h"

namespace rondo {

class Observer {
 public:
  virtual ~Observer() = default;

  /// Whether updated() should be called now. Metrics are computed only if an observer is due: on a GPU the
  /// host has to wait for them.
  virtual bool is_due(const Trainer&) const { return false; }
  /// Called after some steps: whenever an observer is due, and before each of the calls below.
  virtual void updated(const Trainer&, const StepMetrics&) {}
  /// Called after an evaluation of the trainer's evaluated_weights().
  virtual void validated(const Trainer&, const Scores&, bool /*best*/) {}
  /// Called after the evaluation of the trained model that a finetuning begins with.
  virtual void began_with(const Scores&) {}
  /// Called at the end of the training, after the evaluation of the best model on a split.
  virtual void measured(const std::string& /*split*/, const Scores&) {}
};

/// Several observers as one.
class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}

  bool is_due(const Trainer& trainer) const override {
    return std::any_of(all_.begin(), all_.end(), [&](const Observer* it) { return it->is_due(trainer); });
  }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override {
    for (Observer* it : all_) it->updated(trainer, metrics);
  }
  void validated(const Trainer& trainer, const Scores& scores, bool best) override {
    for (Observer* it : all_) it->validated(trainer, scores, best);
  }
  void began_with(const Scores& scores) override {
    for (Observer* it : all_) it->began_with(scores);
  }
  void measured(const std::string& split, const Scores& scores) override {
    for (Observer* it : all_) it->measured(split, scores);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace rondo
