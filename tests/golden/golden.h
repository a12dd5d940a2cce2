// The numbers that make_golden.py (beside this) got from PyTorch. A reader of safetensors of its own,
// independent of data/safetensors.h: a length, a JSON header, raw bytes. For tests only; a broken file throws
// std::exception.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace rondo {

class Golden {
 public:
  /// recurrent.safetensors, read once.
  static const Golden& file() {
    static const Golden golden(RONDO_SOURCE_DIR "/tests/golden/recurrent.safetensors");
    return golden;
  }

  /// All numbers of a tensor, the last dimension fastest. Every tensor of the file is F64.
  std::vector<double> values(const std::string& name) const {
    const nlohmann::json& entry = header_.at(name);
    if (entry.at("dtype") != "F64") throw std::runtime_error(name + " is not F64");
    const std::size_t begin = entry.at("data_offsets").at(0), end = entry.at("data_offsets").at(1);
    if (begin > end || end > data_.size()) throw std::runtime_error(name + " lies outside the file");
    std::vector<double> numbers((end - begin) / sizeof(double));
    std::memcpy(numbers.data(), data_.data() + begin, numbers.size() * sizeof(double));
    return numbers;
  }
  std::vector<std::int64_t> shape(const std::string& name) const { return header_.at(name).at("shape"); }

  bool has(const std::string& name) const { return header_.contains(name); }

  /// A setting CASE.NAME of the metadata, from its JSON text: `double lr = golden.setting("adam.lr");`.
  nlohmann::json setting(const std::string& name) const {
    return nlohmann::json::parse(header_.at("__metadata__").at(name).get<std::string>());
  }

 private:
  explicit Golden(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw std::runtime_error("cannot read " + path);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    std::uint64_t length = 0;
    if (bytes.size() < sizeof(length)) throw std::runtime_error(path + " is truncated");
    std::memcpy(&length, bytes.data(), sizeof(length));
    if (length > bytes.size() - sizeof(length)) throw std::runtime_error(path + " is truncated");
    header_ = nlohmann::json::parse(bytes.substr(sizeof(length), length));
    data_ = bytes.substr(sizeof(length) + length);
  }

  nlohmann::json header_;
  std::string data_;
};

}  // namespace rondo
