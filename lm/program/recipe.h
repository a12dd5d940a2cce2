// A recipe: every setting of a training, with its default. It contains the structs that the code itself
// reads, each with its table of keys (tensor/keys.h); here they become sections. Reading, writing and
// checking: settings.h, recipe_validation.h. Where recipes come from: recipes.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/neural_cache.h"
#include "lm/program/classification_recipe.h"
#include "lm/program/multi_task_recipe.h"
#include "lm/program/published.h"
#include "lm/program/question_answering_recipe.h"
#include "lm/program/recipe_text.h"
#include "lm/program/run_options.h"
#include "lm/program/settings.h"
#include "lm/program/skip_thought_recipe.h"
#include "lm/program/speech_recipe.h"
#include "lm/program/translation_recipe.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "nn/models/language_model_options.h"

namespace rondo {

/// What is trained. It decides which sections and keys a recipe has.
enum class TaskKind {
  language_modelling,
  translation,
  multi_task,
  classification,
  question_answering,
  skip_thought,
  speech
};
inline std::vector<std::string> names_of(TaskKind) {
  return {"language_modelling", "translation",  "multi_task", "classification",
          "question_answering", "skip_thought", "speech"};
}
/// Whether the loss of a task is that of predicting a text symbol by symbol, so that it has a perplexity.
inline bool has_perplexity(TaskKind kind) {
  return kind != TaskKind::classification && kind != TaskKind::question_answering && kind != TaskKind::speech;
}

struct Recipe {
  std::string name, description, paper;
  TaskKind kind = TaskKind::language_modelling;
  PublishedFigures published;

  // Section [train], of all tasks.
  TrainerOptions trainer;
  RunOptions run;

  // Its other sections; those of language modelling are below.
  TranslationRecipe translation;
  std::vector<MixedTaskOptions> tasks;  // of multi-task learning, which has the sections of translation, too
  ClassificationRecipe classification;
  QuestionAnsweringRecipe question_answering;
  SkipThoughtRecipe skip_thought;
  SpeechRecipe speech;

  TextOptions data;  // section [data] also has the task's keys of batches and evaluations
  LanguageModelOptions model;
  std::string embedding_file;     // of section [model]: word vectors that its embedding begins with
  LanguageModellingOptions task;  // of section [train]
  FinetuneOptions finetune;
  ReportOptions report;
  DynamicOptions dynamic;  // of `lm eval --dynamic`
  CacheOptions cache;      // of `lm eval --cache`
};

/// How a recipe of any kind divides its text into symbols.
const Tokenization& tokenization_of(const Recipe& recipe);
/// The recurrent cell of its model; of a translator in encoder and decoder, of skip-thought vectors in the
/// encoder.
const std::string& cell_of(const Recipe& recipe);
/// Which symbols its vocabularies keep.
const VocabularyLimits& limits_of(const Recipe& recipe);
/// How its language model reads a text: those of lm/tasks/language_modelling.h.
Reading validation_reading(const Recipe& recipe, std::optional<std::int32_t> line_end);
Reading final_reading(const Recipe& recipe, std::optional<std::int32_t> line_end);

/// Every key of a recipe of its kind, bound to the members of `recipe`.
Keys keys_of(Recipe& recipe);

/// Sets a recipe from the text of a TOML file, which may have `others` as keys as well; a run's, which has a
/// section [made_by], also keys of earlier versions. First its kind, by recipe.task, on which the keys
/// depend. `where` names the text in InputErrors, which are read_toml()'s.
void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others);

}  // namespace rondo
