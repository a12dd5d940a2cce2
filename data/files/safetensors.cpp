// Writing, reading and judging safetensors files: see safetensors.h.
#include "data/files/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "data/files/files.h"

namespace rondo {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

using nlohmann::json;  // not ordered_json, whose look-up takes linear time

constexpr std::string_view metadata_name = "__metadata__";
constexpr const char* header_digest_name = "header_sha256";
constexpr const char* values_digest_name = "values_sha256";
const std::string no_digest(64, '0');
/// Real headers have a few kilobytes; parsed JSON takes several times the memory of its text.
constexpr std::uint64_t largest_header = 16 << 20;
/// The levels: header, tensor, list.
constexpr std::size_t deepest_json = 3;
constexpr std::size_t alignment = 8;

std::optional<std::uint64_t> size_of_dtype(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32") return 4;
  if (dtype == "F16" || dtype == "BF16") return 2;
  if (dtype == "U8" || dtype == "I8") return 1;
  return std::nullopt;
}

/// The size of dtype times all dimensions; nothing if the dtype is unknown or the product overflows.
std::optional<std::uint64_t> bytes_of(std::string_view dtype, const std::vector<std::int64_t>& shape) {
  std::optional<std::uint64_t> bytes = size_of_dtype(dtype);
  for (const std::int64_t dimension : shape)
    if (!bytes || dimension < 0 ||
        __builtin_mul_overflow(*bytes, static_cast<std::uint64_t>(dimension), &*bytes))
      return std::nullopt;
  return bytes;
}

/// Throws InputError for JSON that is nested more deeply than a header is: parsed, it could take a hundred
/// times the memory of its text. The parser's own callback would take quadratic time for a long header.
void check_depth(std::string_view text, const std::string& file) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '['))
      check_input(++depth <= deepest_json, "{}: corrupt: its header is nested too deeply", file);
    else if (!in_string && (c == '}' || c == ']') && depth > 0)
      --depth;
  }
}

json parse_header(std::string_view text, const std::string& file) {
  check_depth(text, file);
  const json parsed = json::parse(text, nullptr, false);
  const bool ends = text.find('\0') == std::string_view::npos;  // where the parser takes a NUL for the end
  check_input(ends && !parsed.is_discarded(), "{}: corrupt: its header is not JSON", file);
  check_input(parsed.is_object(), "{}: corrupt: its header is not a JSON object", file);
  return parsed;
}

/// A JSON list of non-negative integers below 2^63; nothing for anything else.
std::optional<std::vector<std::int64_t>> integers(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const json& element : list) {
    if (!element.is_number_unsigned() || element.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    values.push_back(element.get<std::int64_t>());
  }
  return values;
}

/// One entry of the header, checked except for overlaps with other entries.
TensorEntry read_entry(const std::string& name, const json& entry, std::uint64_t values_size,
                       const std::string& file) {
  check_input(!name.empty(), "{}: corrupt: a tensor without a name", file);
  const auto good = entry.is_object() && entry.size() == 3 && entry.contains("dtype") &&
                    entry["dtype"].is_string() && entry.contains("shape") && entry.contains("data_offsets");
  check_input(good, "{}: corrupt: '{}' needs dtype, shape and data_offsets, and no more", file, name);
  const auto dtype = entry["dtype"].get<std::string>();
  check_input(size_of_dtype(dtype).has_value(),
              "{}: '{}' is of type {}; rondo reads F64, F32, F16, BF16, I64, I32, U8 and I8", file, name,
              dtype);
  const auto shape = integers(entry["shape"]), offsets = integers(entry["data_offsets"]);
  check_input(shape && offsets && offsets->size() == 2, "{}: corrupt: shape or data_offsets of '{}'", file,
              name);
  const auto begin = static_cast<std::uint64_t>((*offsets)[0]),
             end = static_cast<std::uint64_t>((*offsets)[1]);
  check_input(begin <= end && end <= values_size,
              "{}: truncated or corrupt: '{}' is at bytes {} to {}, but the file has {} bytes of values",
              file, name, begin, end, values_size);
  const auto bytes = bytes_of(dtype, *shape);
  check_input(bytes == end - begin, "{}: corrupt: '{}' has {} bytes, which do not fit its shape and type",
              file, name, end - begin);
  return {name, dtype, *shape, begin, end};
}

/// The tensors must cover the `size` bytes of values exactly: no overlap, no gap, nothing after the last.
void check_coverage(const std::vector<TensorEntry>& tensors, std::uint64_t size, const std::string& file) {
  std::uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    check_input(tensor.begin == covered, "{}: corrupt: '{}' overlaps another tensor or leaves a gap", file,
                tensor.name);
    covered = tensor.end;
  }
  check_input(covered == size, "{}: corrupt: {} bytes after the last tensor", file, size - covered);
}

std::string header_text(const std::vector<TensorBytes>& tensors, const Metadata& metadata) {
  std::string text = fmt::format("{{\"{}\":{}", metadata_name, json(metadata).dump());
  std::uint64_t begin = 0;
  for (const TensorBytes& tensor : tensors) {
    const std::uint64_t end = begin + tensor.bytes.size();
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json(tensor.name).dump(), tensor.dtype, fmt::join(tensor.shape, ","), begin, end);
    begin = end;
  }
  text += '}';
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  check(text.size() <= largest_header, "[safetensors] a header of {} bytes for {} tensors", text.size(),
        tensors.size());
  return text;
}

/// Throws InputError for a file of another known kind; torch.save and numpy.savez make ZIP files, and old
/// versions of torch.save a pickle.
void check_is_safetensors(const InputFile& file) {
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 16)), '\0');
  file.read(0, begin);
  if (begin.size() > alignment && begin[alignment] == '{') return;
  check_input(!begin.starts_with("PK\x03\x04") && !begin.starts_with("\x80\x02\x8a\x0a"),
              "{0}: a file of torch.save or numpy.savez, not of safetensors; to convert one of torch.save: "
              "python3 -c \"import torch; from safetensors.torch import save_file; save_file({{k: "
              "v.contiguous().clone() for k, v in torch.load('{0}', map_location='cpu').items()}}, "
              "'weights.safetensors')\"",
              file.name());
  check_kind(begin, file.name());
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::vector<TensorBytes> tensors,
                       const Metadata& metadata) {
  std::set<std::string_view> names{metadata_name, ""};
  for (const TensorBytes& tensor : tensors) {
    check(bytes_of(tensor.dtype, tensor.shape) == tensor.bytes.size(),
          "[safetensors] '{}' needs a known dtype and bytes that fit its shape: {}, {} bytes", tensor.name,
          tensor.dtype, tensor.bytes.size());
    check(names.insert(tensor.name).second, "[safetensors] two tensors named '{}'", tensor.name);
  }
  std::ranges::sort(tensors, [](const TensorBytes& a, const TensorBytes& b) {
    return std::tuple(-static_cast<std::int64_t>(*size_of_dtype(a.dtype)), std::string_view(a.name)) <
           std::tuple(-static_cast<std::int64_t>(*size_of_dtype(b.dtype)), std::string_view(b.name));
  });
  Sha256 values;
  for (const TensorBytes& tensor : tensors) values.update(bytes_of(tensor.bytes));
  Metadata all = metadata;
  all[values_digest_name] = values.hex();
  all[header_digest_name] = no_digest;
  all[header_digest_name] = sha256_hex(header_text(tensors, all));
  const std::string header = header_text(tensors, all);
  const std::uint64_t length = header.size();
  write_atomically(path, [&](const WritePiece& write) {
    write({reinterpret_cast<const char*>(&length), sizeof length});
    write(header);
    for (const TensorBytes& tensor : tensors) write(bytes_of(tensor.bytes));
  });
}

Safetensors::Safetensors(const std::filesystem::path& path) : file_(path) {
  const std::string file = name();
  check_is_safetensors(file_);
  std::uint64_t length = 0;
  check_input(file_.size() >= sizeof length, "{}: truncated: {} bytes are too few for a safetensors file",
              file, file_.size());
  file_.read(0, {reinterpret_cast<char*>(&length), sizeof length});
  check_input(length <= largest_header,
              "{}: corrupt, or another kind of file than safetensors: its header would have {} bytes", file,
              length);
  check_input(length <= file_.size() - sizeof length, "{}: truncated: its header has {} bytes, the file {}",
              file, length, file_.size());
  std::string header(length, '\0');
  file_.read(sizeof length, header);
  values_begin_ = sizeof length + length;
  const std::uint64_t values_size = file_.size() - values_begin_;
  const json parsed = parse_header(header, file);
  Metadata metadata;
  for (const auto& [name, entry] : parsed.items()) {
    if (name != metadata_name) {
      tensors_.push_back(read_entry(name, entry, values_size, file));
      continue;
    }
    check_input(entry.is_object(), "{}: corrupt: {} is not an object", file, metadata_name);
    for (const auto& [key, value] : entry.items()) {
      check_input(value.is_string(), "{}: corrupt: {} '{}' is not a string", file, metadata_name, key);
      metadata[key] = value.get<std::string>();
    }
  }
  std::ranges::stable_sort(tensors_, [](const TensorEntry& a, const TensorEntry& b) {
    return std::tuple(a.begin, a.end) < std::tuple(b.begin, b.end);
  });
  for (std::size_t i = 0; i < tensors_.size(); ++i) places_[tensors_[i].name] = i;
  check_coverage(tensors_, values_size, file);
  read_metadata(std::move(metadata), header);
}

void Safetensors::read_metadata(Metadata metadata, const std::string& header) {
  const std::string header_digest = metadata[header_digest_name];
  values_digest_ = metadata[values_digest_name];
  for (const char* name : {header_digest_name, values_digest_name}) metadata.erase(name);
  metadata_ = std::move(metadata);
  if (header_digest.empty() && values_digest_.empty()) return;
  const std::size_t at = header.find(header_digest);
  std::string as_digested = header;
  if (header_digest.size() == no_digest.size() && at != std::string::npos)
    as_digested.replace(at, no_digest.size(), no_digest);
  check_input(!values_digest_.empty() && sha256_hex(as_digested) == header_digest,
              "{}: damaged: its header is not the one that was written (SHA-256); restore a copy", name());
}

const TensorEntry& Safetensors::get(const std::string& name) const {
  const auto place = places_.find(name);
  check_input(place != places_.end(), "{}: holds no tensor '{}'", this->name(), name);
  return tensors_[place->second];
}

const std::string& Safetensors::metadata(const std::string& name) const {
  const auto found = metadata_.find(name);
  check_input(found != metadata_.end(), "{}: its metadata have no '{}'", this->name(), name);
  return found->second;
}

void Safetensors::check_values() const {
  check_input(!has_digests() || sha256_hex(file_, values_begin_) == values_digest_,
              "{}: damaged: its values are not those that were written (SHA-256); restore a copy", name());
}

void Safetensors::read(const TensorEntry& tensor, std::span<std::byte> to) const {
  check(to.size() == tensor.size(), "[safetensors] '{}' has {} bytes, not {}", tensor.name, tensor.size(),
        to.size());
  file_.read(values_begin_ + tensor.begin, {reinterpret_cast<char*>(to.data()), to.size()});
}

}  // namespace rondo
