// Weights that another program has written, such as PyTorch's, under the names that Rondo's model has for
// them: safetensors, with a map of names. Nothing is guessed: each tensor of the model is in the file, or is
// said to be zero, and each tensor of the file belongs to the model, or is said to be left out. Rondo's own
// files: lm/training/checkpoint.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/safetensors.h"
#include "nn/module.h"

namespace rondo {

// --- Names ---
// Names of tensors in a file of another program, and their names in Rondo's model. A map is a text with one
// rule per line:
//
//   OLD = NEW               the file's tensor OLD is NEW here
//   OLD = NEW transposed    NEW is its transpose
//   OLD =                   OLD is left out
//   = NEW                   NEW is zero: the file has no such tensor
//
// A `*` in OLD stands for any text, also for none; the first `*` in NEW stands for the text of the first
// one in OLD, and so on. The first rule that matches a name is used, and a name that no rule matches is
// kept. Blank lines, and lines that begin with #, are skipped.

class NameMap {
 public:
  struct Rule {
    std::string from, to;
    bool transposed = false;
    std::int64_t line = 0;
  };
  struct Renamed {
    std::string name;  // empty: left out
    bool transposed = false;
    const Rule* by = nullptr;  // null: none fits
  };

  /// Every name is kept.
  NameMap() = default;
  /// Throws InputError, naming `name` and the line, for what is not a rule.
  static NameMap from_text(std::string_view text, const std::string& name);

  /// Renames a tensor; the rule `by` is valid as long as the map.
  Renamed operator()(const std::string& from) const;
  /// Returns the names of the tensors that are zero.
  const std::vector<std::string>& zeros() const { return zeros_; }
  /// All rules except `= NEW`.
  const std::vector<Rule>& rules() const { return rules_; }
  /// Returns the name of the text, for errors.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::vector<Rule> rules_;
  std::vector<std::string> zeros_;
};

/// Returns the text that each `*` of `pattern` stands for, as short as possible; nothing if `text` does not
/// fit.
std::optional<std::vector<std::string>> fit(std::string_view pattern, std::string_view text);

// --- Weights ---

class ForeignWeights {
 public:
  /// Reads the header. InputErrors of Safetensors; for two tensors that would have one name, a tensor that
  /// has no transpose, and a rule that fits no tensor.
  ForeignWeights(const std::filesystem::path& path, const NameMap& names);

  /// Finds a tensor by its name here; nothing if the file has none.
  std::optional<std::vector<std::int64_t>> shape_of(const std::string& name) const;
  /// InputError that lists what is missing, what is too much, and tensors of another shape. Tied parameters
  /// may have any one of their names, or several.
  void check_layout(const Module& model) const;
  /// Reads all weights and buffers, of 16, 32 or 64 bits. The InputErrors of check_layout(); for a number
  /// that is not finite or below what its buffer may have, and for tied parameters whose values differ.
  void load(const Module& model) const;

  std::string name() const { return file_.name(); }

 private:
  struct Source {
    const TensorEntry* entry;
    bool transposed;
    std::vector<std::int64_t> shape() const;
  };
  std::vector<real> numbers_of(const Source& source) const;
  /// Calls use(sources, shape, the minimum of its values, its view in the model) for each tensor of a model:
  /// a tied one may have several sources, one that is zero or missing has none. Returns what the file lacks
  /// or has in addition.
  template <class Use>
  [[nodiscard]] std::string for_each_tensor(const Module& model, Use use) const;

  Safetensors file_;
  std::vector<std::string> zeros_;
  std::map<std::string, Source> sources_;  // by the names here
};

}  // namespace rondo
