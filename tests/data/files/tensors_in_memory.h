// A safetensors file whose numbers a test changes and writes again, with digests that fit.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/files/safetensors.h"

namespace rondo {

struct TensorsInMemory {
  std::vector<TensorEntry> entries;
  std::map<std::string, std::vector<std::byte>> values;
  Metadata metadata;

  explicit TensorsInMemory(const std::filesystem::path& path) {
    const Safetensors file(path);
    file.check_values();
    entries = file.tensors();
    metadata = file.metadata();
    for (const TensorEntry& it : entries) {
      values[it.name].resize(it.size());
      file.read(it, values[it.name]);
    }
  }
  std::vector<TensorBytes> tensors() const {
    std::vector<TensorBytes> result;
    for (const TensorEntry& it : entries) result.push_back({it.name, it.dtype, it.shape, values.at(it.name)});
    return result;
  }
  void set_first(const std::string& name, float number) {
    std::memcpy(values.at(name).data(), &number, sizeof number);
  }
};

}  // namespace rondo
