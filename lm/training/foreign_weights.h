// Weights that another program has written, such as PyTorch's, under the names that Rondo's model has for
// them: safetensors, with a map of names (data/files/name_map.h). Nothing is guessed: each tensor of the
// model is in the file, or is said to be zero, and each tensor of the file belongs to the model, or is said
// to be left out. Rondo's own files: lm/training/checkpoint.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/files/name_map.h"
#include "data/files/safetensors.h"
#include "nn/module.h"

namespace rondo {

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
