// The sections of a recipe whose task is translation.
#include "lm/program/translation_recipe.h"

#include <algorithm>
#include <cmath>

#include "lm/program/check_section.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(ParallelTextOptions& it) {
  return joined({keys_of(it.files),
                 keys_of(it.tokenization),
                 keys_of(it.limits),
                 keys_of(it.pairs),
                 {{"pairs_share", &it.pairs_share, between(1e-9, 1), "share of the training pairs",
                   "to read, from the beginning of the text; its vocabularies are of these alone"}}});
}

TextPair first_lines(const TextPair& text, double share) {
  const auto lines = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(text.lines)));
  const auto begin_of = [&](Text side) {
    std::size_t end = 0;
    for (std::int64_t i = 0; i < lines; ++i) end = side.content.find('\n', end) + 1;
    side.content.resize(end);
    return side;
  };
  return {begin_of(text.source), begin_of(text.target)};
}

void validate(const TranslationRecipe& recipe, const std::string& where) {
  check_section(where, "", recipe.data.files);
  check_section(where, "data", recipe.data.tokenization);
  check_section(where, "data", recipe.data.limits);
  check_section(where, "", recipe.model);
  check_rows_at_once(where, traits_of(recipe.model.cell).looks_across_rows, "train.batch",
                     recipe.task.batches.order.batch);
  check_section(where, "train", recipe.task);
  check_section(where, "decoding", recipe.decoding);
  check_input(recipe.model.tied != TiedTables::all || recipe.data.pairs.shared_vocabulary,
              "{}: model.tied = \"all\" needs data.shared_vocabulary = true", where);
}

}  // namespace rondo
