// What `lm train` trains.
#include "lm/program/job.h"

namespace rondo {

std::function<void(int64_t)> Watch::progress_of(const std::string& what, int64_t items) {
  return [this, show = terminal.progress_of(what, items)](int64_t done) {
    signals.throw_if_received();
    show(done);
  };
}

std::unique_ptr<Job> make_job(const TrainOptions& options, Setup& setup) {
  switch (setup.config.recipe.kind) {
    case TaskKind::translation:
      return make_translation_job(options, setup);
    case TaskKind::multi_task:
      return make_multi_task_job(options, setup);
    case TaskKind::classification:
      return make_classification_job(options, setup);
    case TaskKind::question_answering:
      return make_question_answering_job(options, setup);
    case TaskKind::skip_thought:
      return make_skip_thought_job(options, setup);
    case TaskKind::speech:
      return make_speech_job(options, setup);
    default:
      return make_language_modelling_job(options, setup);
  }
}

}  // namespace rondo
