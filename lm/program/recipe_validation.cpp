// Whether the settings of a recipe are consistent.
#include "lm/program/recipe_validation.h"

#include <algorithm>
#include <iterator>

#include "lm/program/check_section.h"
#include "lm/program/model.h"
#include "nn/cells/catalogue.h"

namespace rondo {
namespace {

void validate_language_model(const Recipe& recipe, const std::string& where) {
  const TextOptions& data = recipe.data;
  const auto& model = recipe.model;
  const LanguageModellingOptions& task = recipe.task;
  check_section(where, "data", data.tokenization);
  check_section(where, "data", data.limits);
  check_input(
      data.tokenization.unit != Unit::pieces || data.vocabulary == VocabularyFrom::train,
      "{}: data.vocabulary = \"all\": pieces are learnt from train.txt alone, and can write any text: set "
      "data.vocabulary = \"train\"",
      where);
  const std::int64_t widths = std::ssize(model.hidden);
  check_input(widths == 1 || widths == model.layers,
              "{}: model.hidden has {} widths for {} layers: give one for each, or one for all", where,
              widths, model.layers);
  const LanguageModelOptions defaults;
  const bool in_parts = task.micro_batch > 0;
  check_rows_at_once(where, traits_of(model.cell).looks_across_rows,
                     in_parts ? "train.micro_batch" : "train.batch",
                     in_parts ? task.micro_batch : task.batches.batch);
  check_input(model.minor_input == defaults.minor_input || model.major_ratio != defaults.major_ratio,
              "{}: model.minor_input = \"{}\", but there is no minor cell: set model.major_ratio, as in 0.9",
              where, name_of(model.minor_input));
  check_input(
      model.output_activation == defaults.output_activation || !model.output_layers.empty(),
      "{}: model.output_activation = \"{}\", but there is no layer to have it: set model.output_layers, as "
      "in [650]",
      where, name_of(model.output_activation));
  const double rates[] = {model.dropout, model.input_dropout.value_or(0), model.hidden_dropout.value_or(0),
                          model.output_dropout.value_or(0), model.latent_dropout};
  check_input(!model.variational ||
                  std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; }),
              "{}: model.variational = true says how model.dropout drops, which is 0, as are those for its "
              "parts: set one, or leave this out",
              where);
  const auto is_default = [](const InitialValues& it) { return it.kind == InitialValues::Kind::pytorch; };
  check_input(
      model.init_all == 0 ||
          (is_default(model.input_init) && is_default(model.recurrent_init) && is_default(model.output_init)),
      "{}: model.init_all = {} sets every parameter: leave out model.input_init, model.recurrent_init and "
      "model.output_init, or set model.init_all = 0",
      where, model.init_all);
  check_section(where, "train", task);
  check_input(recipe.embedding_file.empty() || model.embedding > 0,
              "{}: model.embedding_file is for an embedding, and model.embedding = 0 has none", where);
  check_input(recipe.embedding_file.empty() || data.tokenization.unit == Unit::words,
              "{}: model.embedding_file has vectors of words, and data.unit = \"{}\": leave it out", where,
              name_of(data.tokenization.unit));
  const VocabularyLimits &limits = data.limits, unlimited;
  check_input(
      data.vocabulary_file.empty() ||
          (data.vocabulary == VocabularyFrom::train && limits.min_count == unlimited.min_count &&
           limits.max_size == unlimited.max_size && limits.reserve_unknown == unlimited.reserve_unknown),
      "{}: data.vocabulary_file is the whole vocabulary: leave data.vocabulary, data.min_count, "
      "data.max_size and data.unknown at their defaults",
      where);
  check_input(
      data.vocabulary_file.empty() || recipe.model.output != OutputKind::adaptive,
      "{}: model.output = \"adaptive\" orders the vocabulary by frequency, and data.vocabulary_file has "
      "an order of its own: leave one out",
      where);
  check_section(where, "", model_options(recipe));
}

}  // namespace

void validate(const Recipe& recipe, const std::string& where) {
  check_section(where, "train", recipe.trainer);
  if (recipe.kind == TaskKind::translation)
    validate(recipe.translation, where);
  else if (recipe.kind == TaskKind::multi_task)
    validate(recipe.tasks, recipe.translation, where);
  else if (recipe.kind == TaskKind::classification)
    validate(recipe.classification, where);
  else if (recipe.kind == TaskKind::question_answering)
    validate(recipe.question_answering, where);
  else if (recipe.kind == TaskKind::skip_thought)
    validate(recipe.skip_thought, where);
  else if (recipe.kind == TaskKind::speech)
    validate(recipe.speech, where);
  else
    validate_language_model(recipe, where);
}

}  // namespace rondo
