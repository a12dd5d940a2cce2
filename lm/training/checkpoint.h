// Model and training state in files: model.safetensors holds the weights and buffers under their names,
// state.safetensors everything that a resumed training needs. It deliberately knows bytes and names only; the
// format is data/safetensors.h. Names and shapes are compared before any value is read; a file without
// digests is read with a warning on stderr, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "data/safetensors.h"
#include "nn/module.h"
#include "tensor/state.h"

namespace rondo {

/// Writes the weights, tied ones under each of their names' first, and the buffers. The same weights and
/// buffers give the same bytes. Diverged, and nothing is written, if a number is not finite: no command would
/// read it.
void save_model(const std::filesystem::path& path, const Module& model);
/// Reads weights and buffers into a model of the same layout. InputError naming the file and the tensor if a
/// name or a shape differs, or a number is none that a model has; naming the file if it is damaged.
void load_model(const std::filesystem::path& path, const Module& model);
/// The same errors, and no warning, without reading into the model, which needs no memory.
void check_model(const std::filesystem::path& path, const Module& model);
/// The first of these errors: of names and shapes, by the header alone.
void check_model_layout(const std::filesystem::path& path, const Module& model);

/// InputError, by its header alone, if a state file does not hold weights of this model, which needs no
/// memory.
void check_state_layout(const std::filesystem::path& path, const Module& model);

/// A state in memory, on its way to a file. Error for two of one name.
class StateFileWriter : public StateWriter {
 public:
  void add(const std::string& name, const Tensor& tensor) override;
  void add(const std::string& name, double number) override;
  void add(const std::string& name, int64_t number) override;
  /// The first tensor with a number that is not finite, which no StateReader takes; empty: none.
  std::string first_not_finite() const;
  void write(const std::filesystem::path& path) const;

 private:
  void add_number(const std::string& name, const std::string& text);

  std::vector<std::pair<std::string, Tensor>> tensors_;
  Metadata numbers_;
};

class StateFile : public StateReader {
 public:
  /// Reads the numbers, and the names and shapes of tensors.
  explicit StateFile(const std::filesystem::path& path) : file_(path) {}
  /// InputError naming the file if there is no tensor of this name and shape.
  void check_shape(const std::string& name, const Shape& shape) const;
  /// Safetensors::check_values, before tensors are read.
  void check_values_or_warn() const;
  void read(const std::string& name, const Tensor& to,
            real least = std::numeric_limits<real>::lowest()) const override;
  void read(const std::string& name, double& number,
            double least = std::numeric_limits<double>::lowest()) const override;
  void read(const std::string& name, int64_t& number, int64_t least = 0,
            int64_t most = int64_t{1} << 53) const override;

 private:
  Safetensors file_;
};

}  // namespace rondo
