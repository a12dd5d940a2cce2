// The list of targets, and what all of them share: the limit on memory, files.
#include <cstdlib>
#include <fstream>

#include "data/speech/features.h"
#include "data/text/pieces.h"
#include "tensor/allocator.h"
#include "tensor/error.h"
#include "tests/fuzz/allocations.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

/// A parsed byte of JSON or TOML takes a hundred bytes and more.
constexpr size_t bytes_per_byte = 400;

/// Goes with the process.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rondo-fuzz-XXXXXX").string();
    demand(mkdtemp(pattern.data()) != nullptr, "no temporary folder");
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> made = {settings(), text(), vocabulary(), safetensors(), arpa()};
    if (has_audio()) made.push_back(recording());
    if (has_sentencepiece()) made.push_back(pieces());
    return made;
  }();
  return all;
}

void judge(const Target& target, std::string_view input) {
  const Allocations allocations;
  const size_t tensors_before = memory_statistics(Device::cpu).bytes_in_use;
  reset_peak_bytes(Device::cpu);
  try {
    target.run(input);
  } catch (const InputError&) {
  }
  const size_t peak = allocations.peak() + memory_statistics(Device::cpu).peak_bytes - tensors_before;
  demand(peak <= bytes_per_byte * input.size() + target.bytes_always,
         fmt::format("{} bytes of memory for an input of {}", peak, input.size()));
}

std::filesystem::path scratch(const std::string& name) {
  static const Folder folder;
  return folder.path / name;
}

std::filesystem::path scratch(const std::string& name, std::string_view bytes) {
  const std::filesystem::path path = scratch(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace rondo::fuzz
