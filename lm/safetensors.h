// The safetensors format (github.com/huggingface/safetensors): 8 bytes little-endian length of the header, a
// JSON header
// {"name": {"dtype", "shape", "data_offsets"}, ..., "__metadata__": {string: string}}, and the raw values.
// Deliberately knows bytes, not tensors: checkpoint code copies them in and out. Files are judged whole
// before any of them is used, and written without time stamps: the same values give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rondo {

/// A named array: dtype is "F32", "F64", "I64", "I32" or "U8"; bytes are little-endian, the last dimension
/// fastest.
struct TensorBytes {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

using Metadata = std::map<std::string, std::string>;

/// Writes a file atomically (files.h). Tensors are stored by falling size of their values, then by name, so
/// that each is aligned to its type. Error for a name twice, an unknown dtype, or bytes that do not fit the
/// shape.
void write_safetensors(const std::filesystem::path& path, std::vector<TensorBytes> tensors,
                       const Metadata& metadata);

/// A file in memory.
class Safetensors {
 public:
  /// Reads and judges a file. InputError naming the file for anything that is not exactly the format:
  /// truncated, longer than its header says, a header that is too long, not JSON, nested too deep or with a
  /// name twice; an unknown dtype; offsets out of range, overlapping or with gaps; a shape that does not fit
  /// its bytes.
  static Safetensors read(const std::filesystem::path& path);

  /// In the order of their bytes.
  const std::vector<TensorBytes>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  /// nullptr if there is none of that name.
  const TensorBytes* find(const std::string& name) const;
  /// InputError naming the file if there is none of that name.
  const TensorBytes& get(const std::string& name) const;
  const std::string& metadata(const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const std::string> file_;  // what the spans of tensors_ point into
  std::vector<TensorBytes> tensors_;
  Metadata metadata_;
};

}  // namespace rondo
