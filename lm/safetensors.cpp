// Writing, reading and judging safetensors files: see safetensors.h.
#include "lm/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "data/text.h"
#include "lm/files.h"
#include "tensor/error.h"

namespace rondo {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

using nlohmann::ordered_json;

constexpr std::string_view metadata_name = "__metadata__";
/// Real headers have some kilobytes; parsed JSON takes several times its text.
constexpr std::uint64_t largest_header = 16 << 20;
/// The header object, a tensor's object, its list.
constexpr int deepest_json = 3;
constexpr std::size_t alignment = 8;

std::optional<std::uint64_t> size_of_dtype(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32") return 4;
  if (dtype == "U8") return 1;
  return std::nullopt;
}

/// dtype size times every dimension; nothing when the dtype is unknown or the product overflows.
std::optional<std::uint64_t> bytes_of(std::string_view dtype, const std::vector<std::int64_t>& shape) {
  std::optional<std::uint64_t> bytes = size_of_dtype(dtype);
  for (const std::int64_t dimension : shape)
    if (!bytes || dimension < 0 ||
        __builtin_mul_overflow(*bytes, static_cast<std::uint64_t>(dimension), &*bytes))
      return std::nullopt;
  return bytes;
}

/// Parses the header, refusing what nlohmann-json would take: names twice, and deep nesting.
ordered_json parse_header(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> names(deepest_json + 1);  // seen so far in the open object of each depth
  using Event = ordered_json::parse_event_t;
  const auto watch = [&](int depth, Event event, ordered_json& parsed) {
    if (event == Event::object_start || event == Event::array_start) {
      check_input(depth < deepest_json, "{}: corrupt: its header is nested too deep", file);
      names[static_cast<std::size_t>(depth) + 1].clear();
    }
    if (event == Event::key) {
      const auto name = parsed.get<std::string>();
      check_input(names[static_cast<std::size_t>(depth)].insert(name).second,
                  "{}: corrupt: its header names '{}' twice", file, name);
    }
    return true;
  };
  try {
    return ordered_json::parse(text, watch);
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("{}: corrupt: its header is not JSON", file));
  }
}

/// A JSON list of non-negative integers below 2^63; nothing for anything else.
std::optional<std::vector<std::int64_t>> integers(const ordered_json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const ordered_json& element : list) {
    if (!element.is_number_unsigned() || element.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    values.push_back(element.get<std::int64_t>());
  }
  return values;
}

/// One entry of the header, judged but for its place among the others.
TensorBytes read_entry(const std::string& name, const ordered_json& entry, std::span<const std::byte> values,
                       const std::string& file) {
  const auto good = entry.is_object() && entry.size() == 3 && entry.contains("dtype") &&
                    entry["dtype"].is_string() && entry.contains("shape") && entry.contains("data_offsets");
  check_input(good, "{}: corrupt: '{}' needs dtype, shape and data_offsets, and no more", file, name);
  const auto dtype = entry["dtype"].get<std::string>();
  check_input(size_of_dtype(dtype).has_value(),
              "{}: '{}' is of type {}; rondo reads F32, F64, I64, I32 and U8", file, name, dtype);
  const auto shape = integers(entry["shape"]), offsets = integers(entry["data_offsets"]);
  check_input(shape && offsets && offsets->size() == 2, "{}: corrupt: shape or data_offsets of '{}'", file,
              name);
  const auto begin = static_cast<std::uint64_t>((*offsets)[0]),
             end = static_cast<std::uint64_t>((*offsets)[1]);
  check_input(begin <= end && end <= values.size(),
              "{}: truncated or corrupt: '{}' is at bytes {} to {}, but the file has {} bytes of values",
              file, name, begin, end, values.size());
  const auto bytes = bytes_of(dtype, *shape);
  check_input(bytes == end - begin, "{}: corrupt: '{}' has {} bytes, which do not fit its shape and type",
              file, name, end - begin);
  return {name, dtype, *shape, values.subspan(begin, end - begin)};
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::vector<TensorBytes> tensors,
                       const Metadata& metadata) {
  for (const TensorBytes& tensor : tensors)
    check(bytes_of(tensor.dtype, tensor.shape) == tensor.bytes.size(),
          "[safetensors] '{}' needs a known dtype and bytes that fit its shape: {}, {} bytes", tensor.name,
          tensor.dtype, tensor.bytes.size());
  std::sort(tensors.begin(), tensors.end(), [](const TensorBytes& a, const TensorBytes& b) {
    return std::tuple(-static_cast<std::int64_t>(*size_of_dtype(a.dtype)), std::string_view(a.name)) <
           std::tuple(-static_cast<std::int64_t>(*size_of_dtype(b.dtype)), std::string_view(b.name));
  });
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header[std::string(metadata_name)] = metadata;
  std::uint64_t offset = 0;
  for (const TensorBytes& tensor : tensors) {
    check(!header.contains(tensor.name) && tensor.name != metadata_name,
          "[safetensors] two tensors named '{}'", tensor.name);
    const std::uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  const std::uint64_t length = text.size();
  std::string length_bytes(sizeof length, '\0');
  std::memcpy(length_bytes.data(), &length, sizeof length);
  std::vector<std::string_view> pieces = {length_bytes, text};
  for (const TensorBytes& tensor : tensors)
    pieces.emplace_back(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  write_atomically(path, pieces);
}

Safetensors Safetensors::read(const std::filesystem::path& path) {
  const std::string file = path.string();
  Safetensors result;
  result.path_ = path;
  result.file_ = std::make_shared<const std::string>(read_file(path));
  const std::string_view bytes = *result.file_;
  std::uint64_t length = 0;
  check_input(bytes.size() >= sizeof length, "{}: truncated: {} bytes are too few for a safetensors file",
              file, bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  check_input(length <= largest_header, "{}: corrupt, or no safetensors file: its header would have {} bytes",
              file, length);
  check_input(length <= bytes.size() - sizeof length, "{}: truncated: its header has {} bytes, the file {}",
              file, length, bytes.size());
  const ordered_json header = parse_header(bytes.substr(sizeof length, length), file);
  check_input(header.is_object(), "{}: corrupt: its header is not a JSON object", file);
  const std::string_view values = bytes.substr(sizeof length + length);
  for (const auto& [name, entry] : header.items()) {
    if (name != metadata_name) {
      result.tensors_.push_back(read_entry(name, entry, std::as_bytes(std::span(values)), file));
      continue;
    }
    check_input(entry.is_object(), "{}: corrupt: {} is not an object", file, metadata_name);
    for (const auto& [key, value] : entry.items()) {
      check_input(value.is_string(), "{}: corrupt: {} '{}' is not a string", file, metadata_name, key);
      result.metadata_[key] = value.get<std::string>();
    }
  }
  // Laid end to end the tensors must cover the values exactly: no overlap, no gap, nothing behind the last.
  const auto begin_of = [&](const TensorBytes& tensor) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(tensor.bytes.data()) - values.data());
  };
  std::stable_sort(result.tensors_.begin(), result.tensors_.end(),
                   [&](const TensorBytes& a, const TensorBytes& b) {
                     return std::tuple(begin_of(a), a.bytes.size()) < std::tuple(begin_of(b), b.bytes.size());
                   });
  std::size_t covered = 0;
  for (const TensorBytes& tensor : result.tensors_) {
    check_input(begin_of(tensor) == covered, "{}: corrupt: '{}' overlaps another tensor or leaves a gap",
                file, tensor.name);
    covered += tensor.bytes.size();
  }
  check_input(covered == values.size(), "{}: corrupt: {} bytes behind the last tensor", file,
              values.size() - covered);
  return result;
}

const TensorBytes* Safetensors::find(const std::string& name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TensorBytes& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

const TensorBytes& Safetensors::get(const std::string& name) const {
  const TensorBytes* tensor = find(name);
  check_input(tensor != nullptr, "{}: holds no tensor '{}'", path_.string(), name);
  return *tensor;
}

const std::string& Safetensors::metadata(const std::string& name) const {
  const auto found = metadata_.find(name);
  check_input(found != metadata_.end(), "{}: its metadata hold no '{}'", path_.string(), name);
  return found->second;
}

}  // namespace rondo
