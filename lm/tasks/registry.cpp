// The list of the tasks.
#include <fmt/ranges.h>

#include "lm/tasks/classification.h"
#include "lm/tasks/language_modelling.h"
#include "lm/tasks/multi_task.h"
#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "lm/tasks/task.h"
#include "lm/tasks/translation.h"

namespace rondo {
namespace {

template <class Made>
RegisteredTask entry(const std::string& name) {
  return {name, [] { return std::make_unique<Made>(); }};
}

}  // namespace

std::vector<RegisteredTask>& registered_tasks() {
  static std::vector<RegisteredTask> tasks = {
      entry<LanguageModellingTask>("language_modelling"),
      entry<TranslationTask>("translation"),
      entry<MultiTaskLearning>("multi_task"),
      entry<ClassificationTask>("classification"),
      entry<QuestionAnsweringTask>("question_answering"),
      entry<SkipThoughtTask>("skip_thought"),
      entry<SpeechTask>("speech"),
  };
  return tasks;
}

std::unique_ptr<Task> make_task(const std::string& name) {
  std::vector<std::string> names;
  for (const RegisteredTask& it : registered_tasks()) {
    if (it.name == name) return it.make();
    names.push_back(it.name);
  }
  throw InputError(fmt::format("recipe.task = \"{}\": expected one of: {}", name, fmt::join(names, ", ")));
}

}  // namespace rondo
