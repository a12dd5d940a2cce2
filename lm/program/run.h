// A run: its folder, what made it, and a finished or interrupted one opened for use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/text/source.h"
#include "data/text/vocabulary.h"
#include "lm/inference/run_folder.h"
#include "lm/program/compute.h"
#include "lm/program/recipe.h"
#include "tensor/keys.h"
#include "tensor/version.h"

namespace rondo {

// --- Provenance ---
// How a run was made: section [made_by] of its config.toml, beside the recipe.

struct Provenance {
  std::string version{}, command{};
  Device device = Device::cpu;
  Precision precision = Precision::fp32;
  std::int64_t threads = 0, ranks = 1;
  std::string data{};
  std::vector<std::string> sha256{};  // "HEX  FILE", as sha256sum prints
  std::string ngram{};           // SHA-256 of decoding.ngram; empty: there is none, or as for the vocabulary
  std::string embedding_file{};  // SHA-256 of model.embedding_file; empty: there is none
  std::string vocabulary{};  // SHA-256 of the vocabularies; empty: made by a version that did not record it
  std::string finetuned_from{};  // the run whose best model this one began with; empty: none
  /// The run whose vocabulary it has, and whose best model it began with unless it is finetuned; empty: none.
  std::string initialized_from{};
  std::string imported_from{};  // the file of another program, of this run or its base; empty: none
  /// Whether the model has learnt `<unk>` although its vocabulary, another one's, was made without it.
  bool unknown_is_trained = false;

  bool is_finetuned() const { return !finetuned_from.empty(); }
  /// Whether another program has trained it, and nothing since.
  bool is_imported() const { return !imported_from.empty() && !is_finetuned(); }
  /// The digest of a file that settings name (Task::named_files()).
  std::string& digest_of_named(const std::string& key) { return key == "ngram" ? ngram : embedding_file; }
};
Keys keys_of(Provenance& made_by);

/// "HEX  FILE" of each file, as sha256sum prints.
std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files);

/// Returns what messages call the text at `data`: the path, or "generated text" where that is empty.
std::string name_of_text(const std::string& data);

/// Throws InputError, naming --data, if the run's text is no longer where it was.
void check_text_is_there(const Provenance& made_by);

/// "HEX  FILE" without the file, of each line.
std::vector<std::string> digests_of(const std::vector<std::string>& sha256_lines);

/// A name for the text of a run: that of its folder or file, and the beginning of a SHA-256 of its files'
/// digests, which tells two texts of one name apart. Empty if the run has none.
std::string short_name_of_text(const Provenance& made_by);

/// Whether files have the recorded digests, in their order, at any path; both "HEX  FILE". Further files do
/// not matter.
bool is_same_data(const std::vector<std::string>& recorded, const std::vector<std::string>& present);
/// The beginning of an error: --data names another text than that of the run.
std::string not_the_text(const std::string& data);

// --- Run folder ---
// The folder of a run is created here, and its config.toml is written and read. Its files:
// lm/inference/run_folder.h.

/// Whether a run has this file, or would have it: its name is that of a run's file, and it lies in a folder
/// with a config.toml.
bool is_file_of_run(const std::filesystem::path& file);

/// What config.toml holds.
struct RunConfig {
  Recipe recipe;
  Provenance made_by;
};

/// Throws InputError unless a new run can be made at `path`: it must be absent or an empty folder or, if it
/// `may_be_unfinished`, one that make_whole_folder() began. Error if it cannot be read. Creates nothing.
void check_new_run_folder(const std::filesystem::path& path, bool may_be_unfinished = false);

/// Makes the folder of a new run: `path`, or the first free runs/NAME-N (N = 1, 2, ...) when `path` is empty.
/// Call it after all other checks. InputErrors of check_new_run_folder; Error when it cannot be made.
RunFolder make_run_folder(const std::filesystem::path& path, const std::string& recipe_name,
                          bool may_be_unfinished = false);
/// Makes such a folder with all its files, which `write` writes, for a command that cannot continue its work.
/// While it does, the folder has a file unfinished.partial. Where a killed or failed command has left that,
/// the same command again replaces the files of the first, and deletes nothing else. Errors of
/// make_run_folder() and of `write`; InputError if another process writes into the folder.
RunFolder make_whole_folder(const std::filesystem::path& path, const std::string& recipe_name,
                            const std::function<void(const RunFolder&)>& write);

void write_config(const RunFolder& run, const RunConfig& config);
/// InputErrors name the file and the line, or the section that a truncated file lacks.
RunConfig read_config(const RunFolder& run);

// --- Run ---
// A finished or interrupted run, opened for use, without changes to its folder.

/// The files of a run's vocabularies.
std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe);

/// Reads the vocabularies of a run into its task, or into another one of that kind, as of a training that
/// begins with this run. InputError, naming the file, if one is missing or broken, or if they are not those
/// that the run was made with. Without sentencepiece those of pieces cannot encode.
void read_vocabularies(const RunFolder& folder, const RunConfig& config, Task& task);

/// Throws InputError for a run of another task than a command is for; `remedy` ends the text.
[[noreturn]] void refuse_task(const RunFolder& folder, const RunConfig& config, const std::string& wanted,
                              const std::string& remedy = "");

struct OpenRun {
  RunFolder folder;
  RunConfig config;
  std::unique_ptr<Module> model;  // with the best weights; dropout off

  Task& task() const { return *config.recipe.task; }
  /// The task as a `Wanted`. InputError for a run of another task; `wanted` names it.
  template <class Wanted>
  Wanted& task_as(const std::string& wanted) const {
    if (auto* it = dynamic_cast<Wanted*>(&task())) return *it;
    refuse_task(folder, config, wanted);
  }
};
/// choose_device() for a command that uses this run: for one of `lm quantize` a CPU computes in int8 unless
/// the options say otherwise. InputErrors of open_run_folder() and read_config().
Compute choose_device_for(const ComputeOptions& given, const std::string& run);

/// Opens a run of any task. InputError naming the file for anything missing, broken or contradicting the rest
/// of the run.
OpenRun open_run(const std::string& path, Device device = Device::cpu);
/// The same without reading the weights: the model has a layout, but no memory.
OpenRun open_run_without_weights(const std::string& path);

/// Opens the run's own text: `given` says where it lies now, if it has moved. Returns "HEX  FILE" of its
/// files. If it is not the text that the run was made with: InputError if it is `given`, else a warning.
std::vector<std::string> open_text_of_run(const OpenRun& run, const std::string& given);
/// Throws InputError if a file that the run's settings name beside the data is missing; warns if it has
/// changed.
void warn_of_changed_files(const OpenRun& run);

/// Whether a language model has learnt `<unk>`, so that its figures with unknown symbols mean something.
bool unknown_is_trained(const RunConfig& config, const Vocabulary& vocabulary);

}  // namespace rondo
