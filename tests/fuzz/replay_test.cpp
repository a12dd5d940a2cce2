// What fuzzing starts from, all that it ever found, and 500 mutations of both, the same each time:
// in the ordinary tests, without libFuzzer.
#include <gtest/gtest.h>

#include <random>

#include "tests/fuzz/target.h"
#include "tests/temporary_folder.h"

namespace rondo::fuzz {

class Fuzz : public testing::TestWithParam<size_t> {
 protected:
  const Target& target = targets()[GetParam()];

  void replay(const std::string& input, const std::string& what) {
    try {
      judge(target, input);
    } catch (const std::exception& error) {
      ADD_FAILURE() << target.name << ", " << what << ": " << error.what()
                    << "\ninput: " << testing::PrintToString(input.substr(0, 500));
    }
  }
  std::vector<std::string> found() const {
    std::vector<std::string> inputs = target.found;
    const std::filesystem::path folder =
        std::filesystem::path(RONDO_SOURCE_DIR) / "tests/fuzz/found" / target.name;
    if (std::filesystem::exists(folder))
      for (const auto& file : std::filesystem::directory_iterator(folder))
        inputs.push_back(bytes_of_file(file.path()));
    return inputs;
  }
};

TEST_P(Fuzz, SeedsAreGood) {
  for (const std::string& seed : target.seeds) EXPECT_NO_THROW(target.run(seed)) << target.name;
}

TEST_P(Fuzz, WhatWasFoundStaysMended) {
  for (const std::string& input : found()) replay(input, "found before");
}

/// Flips a bit, writes a random byte, or cuts, doubles or swaps a piece.
void mutate(std::string& input, std::mt19937& random) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  const size_t at = below(input.size()), other = below(input.size()), length = 1 + below(40);
  if (input.empty()) return;
  switch (below(5)) {
    case 0:
      input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      break;
    case 1:
      input[at] = static_cast<char>(random());
      break;
    case 2:
      input.erase(at, length);
      break;
    case 3:
      input.insert(other, std::string(input, at, length));
      break;
    default:
      input.resize(at);
  }
}

TEST_P(Fuzz, MutationsAreRefusedOrRead) {
  constexpr int mutations = 500;
  std::vector<std::string> from = found();
  from.insert(from.end(), target.seeds.begin(), target.seeds.end());
  std::erase_if(from, [](const std::string& input) { return input.size() > 20'000; });
  std::mt19937 random(1);
  for (int i = 0; i < mutations && !HasFailure(); ++i) {
    std::string input = from[random() % from.size()];
    for (unsigned times = 1 + random() % 4; times > 0; --times) mutate(input, random);
    replay(input, "mutation " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Fuzz, testing::Range<size_t>(0, targets().size()),
                         [](const auto& it) { return targets()[it.param].name; });

}  // namespace rondo::fuzz
