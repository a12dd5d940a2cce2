// The safetensors format (github.com/huggingface/safetensors): the length of the header in 8 little-endian
// bytes, a JSON header {"name": {"dtype", "shape", "data_offsets"}, ..., "__metadata__": {string: string}},
// and the raw values. This file handles bytes; checkpoint code copies them from and to tensors. A header is
// checked before anything else is read. Files contain no time stamps: the same values give the same bytes.
//
// Files written here carry two digests in their metadata, which reveal any damaged bit:
// - "values_sha256", the SHA-256 of all bytes after the header;
// - "header_sha256", that of the header, computed with zeros in place of its own digits. It covers names,
//   shapes, numbers, the other digest, and even the blanks at the end.
// One digest without the other is damage, too: a flipped bit cannot make a file look like one without
// digests, as other programs and older versions write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/files/input_file.h"

namespace rondo {

/// A named array: dtype is "F64", "F32", "F16", "BF16", "I64", "I32", "U8" or "I8"; bytes are little-endian
/// and row-major.
struct TensorBytes {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

using Metadata = std::map<std::string, std::string>;

/// Writes a file atomically (files.h). Tensors are stored by descending size of dtype, then by name, so that
/// each is aligned to its type. Error for a duplicate name, an unknown dtype, or bytes that do not fit the
/// shape.
void write_safetensors(const std::filesystem::path& path, std::vector<TensorBytes> tensors,
                       const Metadata& metadata);

/// An array as described by a header; its values are bytes [begin, end) after the header.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;

  std::uint64_t size() const { return end - begin; }
};

/// An open file: its header is in memory, its values are not.
class Safetensors {
 public:
  /// Reads and checks the header. InputError, naming the file, for a file of another kind, such as one of
  /// torch.save; and for anything that is not exactly the format: a file that is truncated or longer than its
  /// header says; a header that is too long, not JSON, nested too deeply, has duplicate names, or does not
  /// match its digest; an unknown dtype; offsets out of range, overlapping or with gaps; a shape that does
  /// not fit its bytes.
  explicit Safetensors(const std::filesystem::path& path);

  /// Sorted by place in the file.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  /// The metadata without the digests.
  const Metadata& metadata() const { return metadata_; }
  /// Throws InputError, naming the file, if there is no tensor of that name.
  const TensorEntry& get(const std::string& name) const;
  const std::string& metadata(const std::string& name) const;

  bool has_digests() const { return !values_digest_.empty(); }
  /// Throws InputError, naming the file, unless its values match their digest. Files without digests pass.
  void check_values() const;
  /// Copies the values of a tensor, size() bytes.
  void read(const TensorEntry& tensor, std::span<std::byte> to) const;

  std::string name() const { return file_.name(); }

 private:
  void read_metadata(Metadata metadata, const std::string& header);

  InputFile file_;
  std::uint64_t values_begin_ = 0;  // in the file
  std::vector<TensorEntry> tensors_;
  std::map<std::string, std::size_t> places_;  // in tensors_
  Metadata metadata_;
  std::string values_digest_;
};

}  // namespace rondo
