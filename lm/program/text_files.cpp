// The files of a run's text.
#include "lm/program/text_files.h"

#include "lm/program/multi_task_text.h"
#include "tensor/error.h"

namespace rondo {

std::vector<FileDigest> files_of_text(const Recipe& recipe, const std::string& data) {
  const ParallelTextOptions& pairs = recipe.translation.data;
  const bool is_generated = recipe.kind == TaskKind::translation && pairs.files.generated_pairs > 0;
  check_input(is_generated || !data.empty(), "which text? give --data its folder or file");
  switch (recipe.kind) {
    case TaskKind::language_modelling:
      return open_text(recipe.data, data, Pipes::refused).files;
    case TaskKind::translation:
      check_generated_has_no_folder(pairs.files, data);
      return open_parallel_text(data, pairs.files, pairs.tokenization.unit).files;
    case TaskKind::multi_task:
      return open_multi_task_text(data, recipe.tasks, recipe.translation).files;
    case TaskKind::classification: {
      const LabelledTextOptions& labelled = recipe.classification.data;
      return open_labelled_texts(data, labelled.files, labelled.tokenization.unit).files;
    }
    case TaskKind::question_answering:
      return open_questions(data, recipe.question_answering.data.questions, Pipes::refused).files;
    case TaskKind::skip_thought:
      return open_corpus(data, recipe.skip_thought.data.tokenization.unit, Pipes::refused).files;
    case TaskKind::speech:
      return open_speech(data, recipe.speech.data.corpus).files;
  }
  throw Error(fmt::format("[text] no task {}", static_cast<int>(recipe.kind)));
}

}  // namespace rondo
