// The target that libFuzzer calls, chosen with --target=NAME; --seeds=FOLDER writes the seeds of all targets
// to FOLDER/NAME and ends. tests/fuzz/fuzz.py runs it.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/fuzz/target.h"

using namespace rondo::fuzz;

namespace {

const Target* chosen = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  for (const Target& target : targets()) {
    std::filesystem::create_directories(folder / target.name);
    int number = 0;
    for (const std::string& seed : target.seeds)
      std::ofstream(folder / target.name / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  for (int i = 1; i < *count; ++i) {
    const std::string word = (*words)[i];
    if (word.starts_with("--seeds=")) {
      write_seeds(word.substr(8));
      std::exit(0);
    }
    for (const Target& target : targets())
      if (word == "--target=" + target.name) chosen = &target;
  }
  if (chosen != nullptr) return 0;
  std::cerr << "fuzz: give --target=NAME or --seeds=FOLDER\n";
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  judge(*chosen, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
