// Model and training state in files: model.safetensors holds the weights and buffers under their names,
// state.safetensors everything that a resumed training needs. The file format is in data/files/safetensors.h.
// Names and shapes are checked before any value is read; a file without digests is read with a warning on
// stderr, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "data/files/safetensors.h"
#include "nn/module.h"
#include "tensor/state.h"

namespace rondo {

/// A shape as files have it.
std::vector<int64_t> extents(const Shape& shape);

/// The values of a parameter, by a name that files have; nothing if the model has none of that name.
std::optional<Tensor> parameter_named(const Module& model, const std::string& name);

/// Writes the weights and the buffers; a tied weight is written once, under its first name. The same weights
/// and buffers give the same bytes. Throws Diverged, and writes nothing, if a number is not finite: no
/// command would read the file.
void save_model(const std::filesystem::path& path, const Module& model);
/// The same with matrices in int8: each row of NAME as multiples of its scale in NAME.row_scales
/// (tensor/products/int8.h). The errors of save_model().
void save_model_in_int8(const std::filesystem::path& path, const Module& model);
/// Reads weights and buffers, of either kind of file, into a model of the same layout. InputError naming the
/// file and the tensor if a name or a shape differs or a number is invalid; naming the file if it is damaged.
void load_model(const std::filesystem::path& path, const Module& model);
/// Throws the same errors, without the warning, and does not change the model, which needs no memory.
void check_model(const std::filesystem::path& path, const Module& model);
/// Throws only the errors of names and shapes, and reads only the header.
void check_model_layout(const std::filesystem::path& path, const Module& model);

/// Throws InputError if a state file does not hold weights of this model; reads only the header. The model
/// needs no memory.
void check_state_layout(const std::filesystem::path& path, const Module& model);

/// A state in memory, to be written to a file. Error for a duplicate name.
class StateFileWriter : public StateWriter {
 public:
  void add(const std::string& name, const Tensor& tensor) override;
  void add(const std::string& name, double number) override;
  void add(const std::string& name, int64_t number) override;
  /// The first tensor with a number that is not finite, which StateReader refuses; empty: none.
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
  /// Safetensors::check_values(), to be called before tensors are read; warns if there are no digests.
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
