// The folder of a run: see run_folder.h.
#include "lm/program/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "data/arpa.h"
#include "data/files.h"
#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/recipes.h"
#include "lm/program/shell_command.h"
#include "lm/program/toml.h"
#include "nn/cells/deep_transition.h"
#include "nn/cells/multiplicative.h"
#include "tensor/error.h"

namespace rondo {

namespace fs = std::filesystem;

namespace {

std::vector<Key> keys_of(RunConfig& config) {
  return joined({keys_of(config.recipe), section("made_by", keys_of(config.made_by))});
}

/// Before version 0.2 a reset gate always had H units; if the recurrent input had another width, M, it was
/// multiplied with U m instead of m, so that the equation depended on the sizes. And gru_reset_after always
/// had two biases.
void check_equations(const RunConfig& config, const std::string& file) {
  if (!config.made_by.version.starts_with("0.1.") || !config.recipe.language_modelling()) return;
  const LanguageModelOptions& model = config.recipe.language_model().model;
  const std::int64_t intermediate = model.cell_settings.get<IntermediateSettings>().intermediate;
  const auto& transition = model.cell_settings.get<TransitionSettings>().transition;
  const auto as_wide_as_the_state = [&](std::int64_t M) {
    const auto all = [](const auto& numbers, auto number) {
      return std::all_of(numbers.begin(), numbers.end(), [&](auto it) { return it == number; });
    };
    return all(model.hidden, M) && all(model.major_ratio, 1.0);
  };
  const bool changed =
      model.cell == "mgru"     ? !as_wide_as_the_state(intermediate > 0 ? intermediate : model.embedding)
      : model.cell == "dt_gru" ? !transition.empty() && !as_wide_as_the_state(transition.back())
                               : false;
  check_input(!changed,
              "{}: made by version {}, whose {} had another equation: its reset gate filtered U m, and since "
              "0.2 it filters m, as Maupome & Meurs (27) has it; train this run again",
              file, config.made_by.version, model.cell);
  check_input(
      model.cell != "gru_reset_after" || model.cell_settings.get<GateBiasSettings>().biases == 2,
      "{}: made by version {}, whose gru_reset_after had two biases in any case: set model.biases = 2 "
      "in this file",
      file, config.made_by.version);
}

}  // namespace

std::string digest_of(const VocabularyFiles& vocabularies) {
  std::string contents;
  for (const auto& [name, content] : vocabularies) contents += content;
  return sha256_hex(contents);
}

bool is_file_of_run(const fs::path& file) {
  const RunFolder run{file.parent_path()};
  const std::array files{run.config(),
                         run.model(),
                         run.state(),
                         run.log(),
                         run.evaluations(),
                         file.parent_path() / "labels.txt",
                         file.parent_path() / "frames.txt"};
  std::error_code ignored;
  return fs::exists(run.config(), ignored) && (std::find(files.begin(), files.end(), file) != files.end() ||
                                               file.filename().string().starts_with("vocab."));
}

std::vector<fs::path> runs_in(const fs::path& folder) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (file_is_there(RunFolder{entry->path()}.config())) runs.push_back(entry->path());
  std::sort(runs.begin(), runs.end());
  return runs;
}

void check_new_run_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return;
  check_input(status.type() != fs::file_type::none, "--out {}: {}", path.string(), error.message());
  check_input(fs::is_directory(status), "--out {}: there is a file of that name; give a new folder",
              path.string());
  check_input(!fs::exists(RunFolder{path}.config(), error),
              "--out {}: holds a run already; give a new folder, or continue that run with: {}",
              path.string(), resume_command(path));
  bool empty = true;  // except for files of a run killed before its first file was written
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    empty &= entry->path().extension() == ".partial";
  check_input(!error, "--out {}: {}", path.string(), error.message());
  check_input(empty, "--out {}: the folder is not empty; give a new one", path.string());
}

RunFolder make_run_folder(const fs::path& path, const std::string& recipe_name) {
  std::error_code error;
  if (!path.empty()) {
    check_new_run_folder(path);
    fs::create_directories(path, error);
    check(!error, "cannot make the folder {}: {}", path.string(), error.message());
    return {path};
  }
  fs::create_directories("runs", error);
  for (int n = 1; !error; ++n) {
    const fs::path candidate = fs::path("runs") / fmt::format("{}-{}", recipe_name, n);
    // Creating the folder reserves the number: two programs that start together get two folders.
    if (fs::create_directory(candidate, error)) return {candidate};
    // If a file of that name exists, create_directory reports an error; here the number is just taken.
    if (error == std::errc::file_exists) error.clear();
  }
  throw Error(fmt::format("cannot make a folder in runs: {}", error.message()));
}

namespace {

bool names_a_recipe(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error))
    return path.extension() == ".toml" && path.filename() != RunFolder().config();
  const std::vector<BuiltInRecipe> recipes = built_in_recipes();
  return std::any_of(recipes.begin(), recipes.end(),
                     [&](const BuiltInRecipe& it) { return it.name == path.string(); });
}

}  // namespace

RunFolder open_run_folder(const fs::path& path) {
  std::error_code error;
  check_input(fs::is_directory(path, error) || !names_a_recipe(path),
              "no run at {}: it is a recipe; {} shows its model, {} trains it", path.string(),
              command_with({"info", "--recipe", path.string()}),
              command_with({"train", "--recipe", path.string()}) + " --data FILE");
  const fs::path among_runs = fs::path("runs") / path;
  check_input(fs::exists(path, error), "no run at {}: no such folder{}", path.string(),
              fs::exists(RunFolder{among_runs}.config(), error)
                  ? fmt::format("; did you mean {}?", among_runs.string())
              : path.string().find('*') != std::string::npos
                  ? "; a shell leaves a * as it is if it is in quotes or matches nothing"
                  : "");
  check_input(fs::is_directory(path, error), "no run at {}: it is a file{}", path.string(),
              is_arpa(path) ? ", of an n-gram model" : "; give the folder that holds it");
  if (fs::exists(RunFolder{path}.config(), error)) return {path};
  const std::vector<fs::path> runs = runs_in(path);
  check_input(runs.empty(), "no run at {}: it holds runs, as of a sweep; give one of them, as in {}",
              path.string(), runs.empty() ? "" : runs.front().string());
  throw InputError(fmt::format("no run at {}: it holds no config.toml", path.string()));
}

void write_config(const RunFolder& run, const RunConfig& config) {
  RunConfig copy = config;
  const std::string text = write_toml(keys_of(copy));
  check_input(text.size() <= max_toml_bytes,
              "{}: {} bytes, and at most {} can be read again: let data.files match fewer files",
              run.config().string(), text.size(), max_toml_bytes);
  write_atomically(run.config(), text);
}

RunConfig read_config(const RunFolder& run) {
  RunConfig config;
  const std::string file = run.config().string();
  read_recipe(config.recipe, read_regular_file(run.config(), max_toml_bytes), file,
              section("made_by", keys_of(config.made_by)));
  const auto present = [&](const char* key, bool it) {
    check_input(it, "{}: {} is missing: truncated?", file, key);
  };
  present("made_by.version", !config.made_by.version.empty());
  present("made_by.threads", config.made_by.threads > 0);
  present("made_by.sha256", !config.made_by.sha256.empty() || !config.made_by.imported_from.empty());
  validate(config.recipe, file);
  check_equations(config, file);
  return config;
}

}  // namespace rondo
