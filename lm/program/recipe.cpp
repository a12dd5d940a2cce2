// The sections of a recipe: see recipe.h. What must hold between them: recipe_validation.h.
#include "lm/program/recipe.h"

#include "lm/program/toml.h"

namespace rondo {
namespace {

Keys title_keys(Recipe& recipe) {
  return section("recipe",
                 {{"name", &recipe.name, {}, "", "the name of the recipe; runs are called runs/NAME-N"},
                  {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
                  {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
                  {"task", choice(recipe.kind), {}, "", "what is trained; other keys depend on it"}});
}

Keys language_modelling_keys(Recipe& recipe) {
  LanguageModellingOptions& task = recipe.task;
  return joined({
      section("published", keys_of(recipe.published)),
      section("data",
              joined({keys_of(recipe.data), keys_of(task.batches.batching), keys_of(task.evaluated_as)})),
      section("model",
              joined({keys_of(recipe.model),
                      {{"embedding_file", &recipe.embedding_file, any_text(), "",
                        "word vectors that the embedding begins with, in the text format of word2vec or "
                        "GloVe; empty: none"}}})),
      section("train", joined({keys_of(recipe.trainer), keys_of(task), keys_of(recipe.run)})),
      section("finetune", keys_of(recipe.finetune)),
      section("report", keys_of(recipe.report)),
      section("dynamic", keys_of(recipe.dynamic)),
      section("cache", keys_of(recipe.cache)),
  });
}

/// Of tasks whose recipe is data, model and task.
template <class TaskRecipe>
Keys keys_of_task(Recipe& recipe, TaskRecipe& it) {
  return joined({
      section("data", keys_of(it.data)),
      section("model", keys_of(it.model)),
      section("train", joined({keys_of(recipe.trainer), keys_of(it.task), keys_of(recipe.run)})),
  });
}

/// Of those that decode, too.
template <class TaskRecipe>
Keys keys_with_decoding(Recipe& recipe, TaskRecipe& it) {
  return joined({keys_of_task(recipe, it), section("decoding", keys_of(it.decoding))});
}

/// Those of translation, but the languages are those of the tasks.
Keys multi_task_keys(Recipe& recipe) {
  Keys keys = keys_with_decoding(recipe, recipe.translation);
  std::erase_if(keys, [](const Key& key) {
    return key.name == "data.source_language" || key.name == "data.target_language";
  });
  for (MixedTaskOptions& it : recipe.tasks)
    keys = joined({std::move(keys), section(section_of_task(it.name), keys_of(it))});
  return keys;
}

Keys keys_of_kind(Recipe& recipe) {
  switch (recipe.kind) {
    case TaskKind::translation:
      return keys_with_decoding(recipe, recipe.translation);
    case TaskKind::multi_task:
      return multi_task_keys(recipe);
    case TaskKind::classification:
      return keys_of_task(recipe, recipe.classification);
    case TaskKind::question_answering:
      return keys_of_task(recipe, recipe.question_answering);
    case TaskKind::skip_thought:
      return keys_of_task(recipe, recipe.skip_thought);
    case TaskKind::speech:
      return keys_with_decoding(recipe, recipe.speech);
    default:
      return language_modelling_keys(recipe);
  }
}

/// Keys that only earlier versions had: their runs have them still, and must load. Their values are ignored:
/// no trained model depends on them.
Keys retired_keys(bool& unread) {
  return {{"model.persistent_kernel", &unread}};  // a GPU computed all steps of a layer in one launch
}

}  // namespace

Keys keys_of(Recipe& recipe) { return joined({title_keys(recipe), keys_of_kind(recipe)}); }

const Tokenization& tokenization_of(const Recipe& recipe) {
  switch (recipe.kind) {
    case TaskKind::language_modelling:
      return recipe.data.tokenization;
    case TaskKind::classification:
      return recipe.classification.data.tokenization;
    case TaskKind::question_answering:
      return recipe.question_answering.data.tokenization;
    case TaskKind::skip_thought:
      return recipe.skip_thought.data.tokenization;
    case TaskKind::speech:
      return recipe.speech.tokenization;
    default:
      return recipe.translation.data.tokenization;
  }
}

const std::string& cell_of(const Recipe& recipe) {
  switch (recipe.kind) {
    case TaskKind::translation:
    case TaskKind::multi_task:
      return recipe.translation.model.cell;
    case TaskKind::classification:
      return recipe.classification.model.cell;
    case TaskKind::question_answering:
      return recipe.question_answering.model.cell;
    case TaskKind::skip_thought:
      return recipe.skip_thought.model.cell;
    case TaskKind::speech:
      return recipe.speech.model.cell;
    case TaskKind::language_modelling:
      break;
  }
  return recipe.model.cell;
}

const VocabularyLimits& limits_of(const Recipe& recipe) {
  switch (recipe.kind) {
    case TaskKind::language_modelling:
      return recipe.data.limits;
    case TaskKind::classification:
      return recipe.classification.data.limits;
    case TaskKind::question_answering:
      return recipe.question_answering.data.limits;
    case TaskKind::skip_thought:
      return recipe.skip_thought.data.limits;
    case TaskKind::speech:
      return recipe.speech.limits;
    default:
      return recipe.translation.data.limits;
  }
}

Reading validation_reading(const Recipe& recipe, std::optional<std::int32_t> line_end) {
  return validation_reading(recipe.task, line_end, recipe.model.trained_initial_states);
}

Reading final_reading(const Recipe& recipe, std::optional<std::int32_t> line_end) {
  return final_reading(recipe.task, line_end, recipe.model.trained_initial_states);
}

void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others) {
  read_toml(text, where, title_keys(recipe), OtherKeys::ignored);
  recipe.tasks.clear();
  const bool has_tasks = recipe.kind == TaskKind::multi_task;
  bool is_of_run = false, unread = false;
  for (const TomlSection& it : parse_toml(text, where)) {
    const bool is_task = it.name.starts_with(section_of_task(""));
    const auto& [line, column] = it.position;
    check_input(it.name != "tasks", "{}:{}:{}: each task has a section of its own: [tasks.NAME]", where, line,
                column);
    check_input(!is_task || has_tasks,
                "{}:{}:{}: tasks are for recipe.task = \"multi_task\", and here it is \"{}\"", where, line,
                column, name_of(recipe.kind));
    if (is_task) recipe.tasks.push_back({.name = it.name.substr(section_of_task("").size())});
    is_of_run |= it.name == "made_by";
  }
  read_toml(text, where, joined({keys_of(recipe), others, is_of_run ? retired_keys(unread) : Keys()}));
}

}  // namespace rondo
