// The sections of a recipe whose task is translation.
#include "lm/program/translation_recipe.h"

namespace rondo {

Keys keys_of(ParallelTextOptions& it) {
  return joined({keys_of(it.files), keys_of(it.tokenization), keys_of(it.limits), keys_of(it.pairs)});
}

void validate(const TranslationRecipe& recipe, const std::string& where) {
  const auto checked = [&](const std::string& section, const auto& options) {
    try {
      check_options(options);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}{}", where, section, error.what()));
    }
  };
  checked("data.", recipe.data.files);
  checked("data.", recipe.data.tokenization);
  checked("data.", recipe.data.limits);
  checked("", recipe.model);
  checked("train.", recipe.task);
  checked("decoding.", recipe.decoding);
  check_input(recipe.model.tied != TiedTables::all || recipe.data.pairs.shared_vocabulary,
              "{}: model.tied = \"all\" needs data.shared_vocabulary = true", where);
}

}  // namespace rondo
