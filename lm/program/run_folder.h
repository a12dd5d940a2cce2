// The folder of a run: its files, its creation, and its config.toml.
//   config.toml        the resolved recipe, and what made the run
//   vocab.txt          one symbol per line; for a translator vocab.source.txt and vocab.target.txt, with
//                      further languages vocab.LANGUAGE.txt
//   vocab.pieces       where symbols are pieces: the model that divides words; beside each vocabulary
//   labels.txt         for a classifier: one class per line
//   frames.txt         for a recogniser that normalizes by the corpus: sums over its training frames
//   model.safetensors  the best weights
//   state.safetensors  everything needed to resume
//   log.jsonl          one JSON object per line: training steps and evaluations
//   evaluations.jsonl  the same: measurements of the best weights (measurement.h)
//   plot.html          the log as a page of diagrams (plot.h); nothing reads it
//   events.out.*       the log for TensorBoard, with train.tensorboard (tensorboard.h); the same
// The contents of the safetensors files: lm/training/checkpoint.h.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/provenance.h"
#include "lm/program/recipe.h"

namespace rondo {

/// The SHA-256 of their contents.
std::string digest_of(const VocabularyFiles& vocabularies);

/// The paths of a run's files. Creates and checks nothing.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.toml"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path state() const { return path / "state.safetensors"; }
  std::filesystem::path log() const { return path / "log.jsonl"; }
  std::filesystem::path evaluations() const { return path / "evaluations.jsonl"; }
  std::filesystem::path page() const { return path / "plot.html"; }
};

/// Whether a run has this file, or would have it: its name is that of a run's file, and it lies in a folder
/// with a config.toml.
bool is_file_of_run(const std::filesystem::path& file);

/// The runs in a folder, as of a sweep, by their names.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder);

/// What config.toml holds.
struct RunConfig {
  Recipe recipe;
  Provenance made_by;
};

/// InputError unless a new run can be made at `path`: it must be absent or an empty folder. Creates nothing.
void check_new_run_folder(const std::filesystem::path& path);

/// Makes the folder of a new run: `path`, or the first free runs/NAME-N (N = 1, 2, ...) when `path` is empty.
/// Call it after all other checks. InputErrors of check_new_run_folder; Error when it cannot be made.
RunFolder make_run_folder(const std::filesystem::path& path, const std::string& recipe_name);

/// The folder of an existing run. InputError if `path` is missing, is not a folder, or has no config.toml;
/// for a folder of runs it names one of them.
RunFolder open_run_folder(const std::filesystem::path& path);

void write_config(const RunFolder& run, const RunConfig& config);
/// InputErrors name the file and the line, or the section that a truncated file lacks.
RunConfig read_config(const RunFolder& run);

}  // namespace rondo
