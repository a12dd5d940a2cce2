// What watches a training and changes nothing of it: a terminal, a log, plots, probes. Next:
// lm/program/terminal.h, lm/program/training_log.h.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lm/training/trainer.h"

namespace rondo {

class Observer {
 public:
  virtual ~Observer() = default;

  /// Whether it wants updated() now: on a GPU, metrics have to be waited for.
  virtual bool is_due(const Trainer&) const { return false; }
  /// After some steps; on a CPU and a GPU alike whenever an observer is due, and before all that follows.
  virtual void updated(const Trainer&, const StepMetrics&) {}
  /// The trainer's evaluated weights have been evaluated.
  virtual void validated(const Trainer&, const Figure&, bool /*best*/) {}
  /// So has the trained model that the training begins with.
  virtual void began_with(const Figure&) {}
  /// And the best model, on a split, when the training is over.
  virtual void measured(const std::string& /*split*/, const Figure&) {}
};

/// Several as one.
class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}

  bool is_due(const Trainer& trainer) const override {
    return std::any_of(all_.begin(), all_.end(), [&](const Observer* it) { return it->is_due(trainer); });
  }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override {
    for (Observer* it : all_) it->updated(trainer, metrics);
  }
  void validated(const Trainer& trainer, const Figure& figure, bool best) override {
    for (Observer* it : all_) it->validated(trainer, figure, best);
  }
  void began_with(const Figure& figure) override {
    for (Observer* it : all_) it->began_with(figure);
  }
  void measured(const std::string& split, const Figure& figure) override {
    for (Observer* it : all_) it->measured(split, figure);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace rondo
