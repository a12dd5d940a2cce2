// How a run was made: section [made_by] of its config.toml, beside the recipe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/long_text.h"
#include "lm/program/compute.h"
#include "tensor/keys.h"

namespace rondo {

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

  /// The digest of a file that settings name (Task::named_files()).
  std::string& digest_of_named(const std::string& key) { return key == "ngram" ? ngram : embedding_file; }
};
Keys keys_of(Provenance& made_by);

/// "HEX  FILE" of each file, as sha256sum prints.
std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files);

/// What messages call the text at `data`: the path as `printable`, or "generated text" where that is empty.
std::string name_of_text(const std::string& data);

/// InputError, naming --data, if the run's text is no longer where it was.
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

}  // namespace rondo
