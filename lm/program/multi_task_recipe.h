// The sections of a recipe whose task is multi_task: those of translation, and for each task a section
// [tasks.NAME] with its languages and its mixing ratio. Next: lm/tasks/multi_task.h,
// lm/program/multi_task_job.cpp.
#pragma once

#include <string>
#include <vector>

#include "data/line_pairs.h"
#include "lm/program/translation_recipe.h"
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {

/// Section [tasks.NAME]. With one language twice it is an auto-encoder, or with other pairs of its lines a
/// skip-thought model; without a source a language model. Tasks share the encoder of a source language and
/// the decoder of a target language.
struct MixedTaskOptions {
  std::string name{};
  std::string source{}, target{};  // languages: the ends of the names of files
  PairsOf pairs = PairsOf::lines;  // others than lines: of one language
  double ratio = 1;

  Route route() const { return {source, target}; }
  bool translates() const { return !source.empty() && source != target; }
};
Keys keys_of(MixedTaskOptions& options);
/// "tasks.NAME".
std::string section_of_task(const std::string& name);

using MixedTasks = std::vector<MixedTaskOptions>;

/// The languages of all tasks, in the order of their first mention: first the two of the first task.
std::vector<std::string> languages_of(const MixedTasks& tasks);
/// The recipe with the languages of a task.
TranslationRecipe with_languages(TranslationRecipe recipe, const std::string& source,
                                 const std::string& target);

/// InputError if settings contradict each other, or if the first task, which decides, does not translate;
/// `where` begins the text.
void validate(const MixedTasks& tasks, const TranslationRecipe& recipe, const std::string& where);

}  // namespace rondo
