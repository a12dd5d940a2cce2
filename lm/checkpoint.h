// Model and training state in files: model.safetensors holds the weights and buffers under their names,
// state.safetensors everything that a resumed training needs. It deliberately knows bytes and names only; the
// format is lm/safetensors.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lm/safetensors.h"
#include "nn/language_model.h"

namespace rondo {

/// Writes the weights, tied ones under each of their names' first, and the buffers. The same weights and
/// buffers give the same bytes.
void save_model(const std::filesystem::path& path, const Module& model);
/// Reads weights and buffers into a model of the same layout. InputError naming the file and the tensor if a
/// name or a shape differs.
void load_model(const std::filesystem::path& path, const Module& model);

/// Named tensors and numbers on their way to or from a state file.
class StateWriter {
 public:
  void add(const std::string& name, const Tensor& tensor);
  void add(const std::string& name, double number);
  void add(const std::string& name, int64_t number);
  void write(const std::filesystem::path& path) const;

 private:
  std::vector<std::pair<std::string, Tensor>> tensors_;
  Metadata numbers_;
};

class StateReader {
 public:
  explicit StateReader(const std::filesystem::path& path) : file_(Safetensors::read(path)), path_(path) {}
  /// Into a tensor of the saved shape. InputError naming the file if there is none of that name and shape.
  void read(const std::string& name, const Tensor& to,
            real least = std::numeric_limits<real>::lowest()) const;
  void read(const std::string& name, double& number) const;
  void read(const std::string& name, int64_t& number) const;

 private:
  Safetensors file_;
  std::filesystem::path path_;
};

}  // namespace rondo
