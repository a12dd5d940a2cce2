// Recipes and config.toml; where the first line is "--set", what follows are KEY=VALUE, one a line.
#include "lm/settings/settings.h"

#include <algorithm>

#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

constexpr std::string_view as_settings = "--set\n";

/// All keys of a config.toml.
struct Config {
  Recipe recipe;
  Provenance made_by;
  Keys keys = joined({keys_of(recipe), section("made_by", keys_of(made_by))});
};

void read_settings(std::string_view lines, const Config& config) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    apply_setting(parse_setting(std::string(line)), config.keys);
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
}

/// A recipe that is accepted has a model with a size.
void describe(const Recipe& recipe) {
  validate(recipe, "file");
  if (recipe.language_model().model.layers > 8) return;
  const LanguageModel model(model_options(recipe.language_model()), 10'000, 1, Device::meta);
  demand(model.parameter_count() > 0, "a model without parameters");
}

void run_settings(std::string_view input) {
  Config first, second;
  if (input.starts_with(as_settings))
    read_settings(input.substr(as_settings.size()), first);
  else
    read_toml(std::string(input), "file", first.keys);
  const std::string written = write_toml(first.keys);
  try {
    read_toml(written, "written", second.keys);
  } catch (const InputError& error) {
    throw Violation(error.what());
  }
  demand(write_toml(second.keys) == written, "another text when written again");
  describe(first.recipe);
}

std::string all_keys() {
  Config config;
  return write_toml(config.keys);
}

std::string repeated(std::string_view part, int times) {
  std::string text;
  while (times-- > 0) text += part;
  return text;
}

}  // namespace

Target settings() {
  return {
      "settings",
      run_settings,
      {all_keys(), "[recipe]\nname = \"a\"\n[model]\nhidden = [2, 3] # two\nlayers = 2\ntied = false\n",
       "[model]\ncell = 'gru'\nforget_bias = 0.0\n", "--set\nmodel.hidden=[2]\ntrain.clip=1e-3\n"},
      {"[" + repeated("a.", 230'000) + "a]", repeated("a", 230'000) + " = 1",
       "[model]\nhidden = " + repeated("[", 100'000), "[model]\n" + repeated("a", 1'000'000) + " = 1",
       "[model]\nhidden = [1000000]\nembedding = 1000000\n[train]\nbatch = 1000000\nlength = 1000000\n"},
  };
}

}  // namespace rondo::fuzz
