// The folder of a run, as it is found:
//
//   config.toml         the resolved recipe, and what made the run
//   vocab.txt           one symbol per line; of a translator vocab.source.txt, vocab.target.txt or, with more
//                       languages, vocab.LANGUAGE.txt
//   vocab.pieces        beside each vocabulary of pieces, the model that divides words
//   labels.txt          of a classifier: one class per line
//   frames.txt          of a recogniser that normalizes by the corpus: sums over its training frames
//   model.safetensors   the best weights
//   state.safetensors   all that resuming needs: lm/training/checkpoint.h
//   log.jsonl           the training, an object of JSON per line: lm/program/log.h
//   evaluations.jsonl   measurements of the best weights: lm/program/log.h
//
// How it is made: lm/program/run.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lm/tasks/task.h"

namespace rondo {

/// The paths of a run's files. Creates and checks nothing.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.toml"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path state() const { return path / "state.safetensors"; }
  std::filesystem::path log() const { return path / "log.jsonl"; }
  std::filesystem::path evaluations() const { return path / "evaluations.jsonl"; }
};

/// Whether a folder is that of a run.
bool is_run(const std::filesystem::path& folder);
/// The runs in a folder, as of a sweep, by their names.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder);

/// The folder of an existing run. InputError if `path` is missing, is not a folder, or has no config.toml;
/// for a folder of runs it names one of them.
RunFolder open_run_folder(const std::filesystem::path& path);

/// The SHA-256 of their contents.
std::string digest_of(const VocabularyFiles& vocabularies);

/// Throws InputError, naming the files, unless these are the vocabularies that the run was made with, whose
/// SHA-256 is given; empty: it was not recorded, and any pass.
void check_vocabularies(const RunFolder& folder, const std::string& sha256,
                        const VocabularyFiles& vocabularies);

}  // namespace rondo
