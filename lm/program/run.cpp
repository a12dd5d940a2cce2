// Run folders: made, read, and opened for use.
#include "lm/program/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/terminal.h"
#include "lm/settings/toml.h"
#include "lm/training/checkpoint.h"
#include "lm/training/trainer.h"
#include "tensor/error.h"

namespace rondo {

// --- Provenance ---

Keys keys_of(Provenance& made_by) {
  return {
      {"version", &made_by.version, "of the program"},
      {"command", &made_by.command, any_text(), "", "what was typed"},
      {"device", choice(made_by.device), "where it was computed"},
      {"precision", choice(made_by.precision),
       "in which matrices were multiplied; int8: the weights are of lm quantize"},
      {"threads", &made_by.threads, at_least(0), "threads", "that computed"},
      {"ranks", &made_by.ranks, any_count(), "processes",
       "that computed, each with so many threads or a GPU"},
      {"data", &made_by.data, any_text(), "", "where the text is; a resumed run reads it again"},
      {"sha256", &made_by.sha256, any_text(), "", "of each file of the text, as sha256sum prints"},
      {"ngram", &made_by.ngram, "SHA-256 of decoding.ngram"},
      {"embedding_file", &made_by.embedding_file, "SHA-256 of model.embedding_file"},
      {"vocabulary", &made_by.vocabulary, "SHA-256 of its vocabularies"},
      {"finetuned_from", &made_by.finetuned_from, any_text(), "",
       "the run whose best model this one began with; empty: none"},
      {"initialized_from", &made_by.initialized_from, any_text(), "",
       "the run whose vocabulary this one has, and whose best model it began with unless it is finetuned; "
       "empty: none"},
      {"imported_from", &made_by.imported_from, any_text(), "",
       "the file of another program from which it has its vocabulary and its first weights; empty: none"},
      {"unknown_is_trained", &made_by.unknown_is_trained,
       "whether the model has learnt <unk> although its vocabulary, another one's, was made without it"},
  };
}

std::string name_of_text(const std::string& data) { return data.empty() ? "generated text" : data; }

void check_text_is_there(const Provenance& made_by) {
  check_input(made_by.data.empty() || std::filesystem::exists(made_by.data),
              "{}: no such file or folder any more, and it has this run's text: --data says where it is now",
              name_of_text(made_by.data));
}

std::vector<std::string> digests_of(const std::vector<std::string>& sha256_lines) {
  std::vector<std::string> digests;
  for (const std::string& line : sha256_lines) digests.push_back(line.substr(0, line.find(' ')));
  return digests;
}

std::string short_name_of_text(const Provenance& made_by) {
  if (made_by.sha256.empty()) return "";
  const std::string name = name_of_text(made_by.data.empty() ? "" : last_name(made_by.data)),
                    digests = fmt::format("{}", fmt::join(digests_of(made_by.sha256), "\n"));
  constexpr std::size_t digits = 8;
  return name + ' ' + sha256_hex(digests).substr(0, digits);
}

bool is_same_data(const std::vector<std::string>& recorded, const std::vector<std::string>& present) {
  const std::vector<std::string> before = digests_of(recorded), now = digests_of(present);
  return before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin());
}

std::string not_the_text(const std::string& data) {
  return fmt::format(
      "--data {}: not the text of this run, by its SHA-256; --data says where that text lies now", data);
}

std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files) {
  std::vector<std::string> lines;
  for (const FileDigest& file : files) lines.push_back(file.sha256 + "  " + file.path);
  return lines;
}

// --- Run folder ---

namespace fs = std::filesystem;

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
  return fs::exists(run.config(), ignored) &&
         (std::ranges::find(files, file) != files.end() || file.filename().string().starts_with("vocab."));
}

/// Is in a folder whose files are not complete.
constexpr const char* unfinished_name = "unfinished.partial";

void check_new_run_folder(const fs::path& path, bool may_be_unfinished) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return;
  check_input(status.type() != fs::file_type::none, "--out {}: {}", path.string(), error.message());
  check_input(fs::is_directory(status), "--out {}: there is a file of that name; give a new folder",
              path.string());
  check_input(!is_run(path),
              "--out {}: holds a run already; give a new folder, or continue that run with: {}",
              path.string(), resume_command(path));
  if (may_be_unfinished && fs::is_regular_file(path / unfinished_name, error)) return;
  bool empty = true;  // except for files of a run killed before its first file was written
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    empty &= entry->path().extension() == ".partial";
  check(!error, "--out {}: {}", path.string(), error.message());
  check_input(empty, "--out {}: the folder is not empty; give a new one", path.string());
}

namespace {

/// Makes the first folder STEM-N (N = 1, 2, ...) that is not there. Making it reserves the number: two
/// programs that start together get two folders.
fs::path make_numbered_folder(const fs::path& stem) {
  for (int n = 1;; ++n) {
    std::error_code error;
    const fs::path candidate = fmt::format("{}-{}", stem.native(), n);
    if (fs::create_directory(candidate, error)) return candidate;
    // If a file of that name exists, create_directory reports an error; here the number is just taken.
    check(!error || error == std::errc::file_exists, "cannot make the folder {}: {}", candidate.string(),
          error.message());
  }
}

}  // namespace

RunFolder make_run_folder(const fs::path& path, const std::string& recipe_name, bool may_be_unfinished) {
  std::error_code error;
  if (path.empty()) {
    fs::create_directory("runs", error);  // if that fails, so does what follows
    return {make_numbered_folder(fs::path("runs") / recipe_name)};
  }
  check_new_run_folder(path, may_be_unfinished);
  fs::create_directories(path, error);
  check(!error, "cannot make the folder {}: {}", path.string(), error.message());
  return {path};
}

RunFolder make_whole_folder(const fs::path& path, const std::string& recipe_name,
                            const std::function<void(const RunFolder&)>& write) {
  const RunFolder made = make_run_folder(path, recipe_name, true);
  const FolderLock lock(made.path, "writes into it");
  check_new_run_folder(made.path, true);  // another process may have filled it meanwhile
  const fs::path mark = made.path / unfinished_name;
  write_atomically(mark, "");
  write(made);
  check_system(unlink(mark.c_str()) == 0, "cannot remove {}", mark.native());
  sync_folder_of(mark);
  return made;
}

void write_config(const RunFolder& run, const RunConfig& config) {
  RunConfig copy = config;
  const std::string text =
      write_toml(joined({keys_of(copy.recipe), section("made_by", keys_of(copy.made_by))}));
  check_input(text.size() <= max_toml_bytes,
              "{}: {} bytes, and at most {} can be read again: let data.files match fewer files",
              run.config().string(), text.size(), max_toml_bytes);
  write_atomically(run.config(), text);
}

RunConfig read_config(const RunFolder& run) {
  RunConfig config;
  const std::string file = run.config().string();
  read_recipe(config.recipe, read_file(run.config(), Pipes::refused, max_toml_bytes), file,
              section("made_by", keys_of(config.made_by)));
  const auto present = [&](const char* key, bool it) {
    check_input(it, "{}: {} is missing: truncated?", file, key);
  };
  present("made_by.version", !config.made_by.version.empty());
  present("made_by.threads", config.made_by.threads > 0);
  present("made_by.sha256", !config.made_by.sha256.empty() || !config.made_by.imported_from.empty());
  validate(config.recipe, file);
  return config;
}

// --- Run ---

std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : recipe.task->vocabulary_names()) paths.push_back(folder.path / name);
  return paths;
}

void read_vocabularies(const RunFolder& folder, const RunConfig& config, Task& task) {
  VocabularyFiles files;
  for (const std::filesystem::path& path : vocabulary_paths(folder, config.recipe))
    files.emplace_back(path.filename().string(), read_vocabulary_file(path));
  check_vocabularies(folder, config.made_by.vocabulary, files);
  task.set_vocabularies(files, folder.path.string());
}

void refuse_task(const RunFolder& folder, const RunConfig& config, const std::string& wanted,
                 const std::string& remedy) {
  throw InputError(fmt::format("{}: a run of the task {}, where one of {} is needed{}", folder.path.string(),
                               config.recipe.task_name, wanted, remedy));
}

OpenRun open_run_without_weights(const std::string& path) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  read_vocabularies(folder, config, *config.recipe.task);
  auto model = config.recipe.task->make_layout(config.recipe.task->sizes());
  check_input(file_is_there(folder.model()),
              "{} holds no model: {} is written by the first evaluation of its training; if it was moved, "
              "restore it",
              folder.path.string(), folder.model().filename().string());
  check_model_layout(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(model)};
}

Compute choose_device_for(const ComputeOptions& given, const std::string& run) {
  ComputeOptions options = given;
  const bool in_int8 = read_config(open_run_folder(run)).made_by.precision == Precision::int8;
  if (in_int8 && !options.precision && options.device.value_or(Device::cpu) == Device::cpu)
    options.precision = Precision::int8;
  return choose_device(options);
}

OpenRun open_run(const std::string& path, Device device) {
  OpenRun run = open_run_without_weights(path);
  run.model->allocate(device);
  load_model(run.folder.model(), *run.model);
  return run;
}

std::vector<std::string> open_text_of_run(const OpenRun& run, const std::string& given) {
  const Provenance& made_by = run.config.made_by;
  if (given.empty()) check_text_is_there(made_by);
  run.task().open({.path = given.empty() ? made_by.data : given,
                   .pipes = given.empty() ? Pipes::refused : Pipes::accepted,
                   .progress = reading_progress(stderr)});
  std::vector<std::string> sha256 = sha256_lines(run.task().files());
  if (is_same_data(made_by.sha256, sha256)) return sha256;
  check_input(given.empty(), "{}", not_the_text(given));
  print_warning(name_of_text(made_by.data) +
                " has changed since this run was made; the figures are those of the text as it is now");
  return sha256;
}

void warn_of_changed_files(const OpenRun& run) {
  Provenance made_by = run.config.made_by;
  const RunConfig as_trained = read_config(run.folder);
  for (const NamedFile& it : as_trained.recipe.task->named_files()) {
    if (it.path->empty() || it.key.empty() || it.begins) continue;
    for (const NamedFile& now : run.task().named_files())
      if (now.key == it.key && *now.path == *it.path) {
        check_input(file_is_there(*it.path), "{}: this file, which the run names, is not there: restore it",
                    *it.path);
        if (!made_by.digest_of_named(it.key).empty() &&
            sha256_hex(InputFile(*it.path)) != made_by.digest_of_named(it.key))
          print_warning(
              fmt::format("{}: has changed since the run {} was made", *it.path, run.folder.path.string()));
      }
  }
}

bool unknown_is_trained(const RunConfig& config, const Vocabulary& vocabulary) {
  const bool is_of_its_text =
      config.recipe.language_model().data.vocabulary_file.empty();  // whose <unk> tells
  return (is_of_its_text && vocabulary.unknown_is_trained()) || config.made_by.unknown_is_trained;
}

}  // namespace rondo
