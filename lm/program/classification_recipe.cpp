// The sections of a recipe whose task is classification.
#include "lm/program/classification_recipe.h"

namespace rondo {

Keys keys_of(LabelledTextOptions& it) {
  return joined({keys_of(it.files), keys_of(it.tokenization), keys_of(it.limits)});
}

void validate(const ClassificationRecipe& recipe, const std::string& where) {
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
  check_input(
      recipe.data.tokenization.unit != Unit::bytes || recipe.data.files.encoding == Encoding::utf8,
      "{}: data.encoding = \"{}\" is for words and characters; bytes are read as they are: leave it out",
      where, name_of(recipe.data.files.encoding));
}

}  // namespace rondo
