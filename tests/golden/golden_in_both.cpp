// Reading golden numbers: golden.h.
#include "tests/golden/golden.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rondo {

struct Golden::Header {
  nlohmann::json json;
};

const Golden& Golden::file(const std::string& name) {
  static std::map<std::string, std::unique_ptr<const Golden>> files;
  auto& file = files[name];
  if (!file) file.reset(new Golden(RONDO_SOURCE_DIR "/tests/golden/" + name + ".safetensors"));
  return *file;
}

Golden::Golden(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length)) throw std::runtime_error(path + " is truncated");
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - sizeof(length)) throw std::runtime_error(path + " is truncated");
  header_ = std::make_unique<Header>(Header{nlohmann::json::parse(bytes.substr(sizeof(length), length))});
  data_ = bytes.substr(sizeof(length) + length);
}

Golden::~Golden() = default;

std::vector<double> Golden::values(const std::string& name) const {
  const nlohmann::json& entry = header_->json.at(name);
  if (entry.at("dtype") != "F64") throw std::runtime_error(name + " is not F64");
  const std::size_t begin = entry.at("data_offsets").at(0), end = entry.at("data_offsets").at(1);
  if (begin > end || end > data_.size()) throw std::runtime_error(name + " lies outside the file");
  std::vector<double> numbers((end - begin) / sizeof(double));
  std::memcpy(numbers.data(), data_.data() + begin, numbers.size() * sizeof(double));
  return numbers;
}

std::vector<std::int64_t> Golden::shape(const std::string& name) const {
  return header_->json.at(name).at("shape");
}

bool Golden::has(const std::string& name) const { return header_->json.contains(name); }

double Golden::setting(const std::string& name, std::size_t index) const {
  const nlohmann::json value =
      nlohmann::json::parse(header_->json.at("__metadata__").at(name).get<std::string>());
  return value.is_array() ? value.at(index) : value;
}

}  // namespace rondo
