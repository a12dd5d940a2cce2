// log.jsonl as an observer of a training: a line every train.log_every steps, and one for each evaluation.
// The same lines for TensorBoard: lm/program/tensorboard.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "data/files.h"
#include "lm/evaluation/probe.h"
#include "lm/program/json_lines.h"
#include "lm/program/recipe.h"
#include "lm/program/run_folder.h"
#include "lm/program/tensorboard.h"
#include "lm/program/window.h"
#include "lm/training/observer.h"

namespace rondo {

class TrainingLog : public Observer {
 public:
  /// Continues at a position in bytes, after `step` updates; the rest of the file is cut off.
  TrainingLog(const Recipe& recipe, const RunFolder& run, int64_t position, int64_t step, Device device)
      : recipe_(recipe), file_(run.log(), position, is_json_object), device_(device) {
    if (recipe.run.tensorboard) tensorboard_.emplace(run, step);
  }

  bool is_due(const Trainer& trainer) const override {
    return trainer.step_count() % recipe_.run.log_every == 0;
  }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override;
  void validated(const Trainer& trainer, const Scores& scores, bool best) override;
  void began_with(const Scores& scores) override;
  void measured(const std::string& split, const Scores& scores) override;

  /// A look into the model after some epochs, 0 before the first one.
  void probed(const Trainer& trainer, int64_t epochs, const Probed& what);

  /// A measurement beside the validation, such as that of sentence vectors.
  void measured_meanwhile(const Trainer& trainer, const nlohmann::ordered_json& figure);

  /// The training has been stopped before its end. `unevaluated`: the model that is kept is that of this
  /// step, and not evaluated. A resumed training removes the line.
  void stopped(const Trainer& trainer, bool unevaluated);

  /// Writes everything to the disk and returns the size in bytes.
  int64_t sync() { return file_.sync(); }

 private:
  struct Moment {
    int64_t step = 0, epoch = 0;
    double epochs_trained = 0, seconds = 0, learning_rate = 0;
  };
  void evaluation(const std::optional<Moment>& when, const std::string& split, const Scores& scores,
                  bool best);

  /// Writes an entry, after the kind of event and the time.
  void append(const std::string& event, const nlohmann::ordered_json& entry);

  const Recipe& recipe_;
  LineFile file_;
  std::optional<TensorBoardLog> tensorboard_;
  Device device_;
  Window window_;  // since the last line
};

}  // namespace rondo
