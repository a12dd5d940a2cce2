// One recipe trained on random symbols, by the code that `lm train` runs.
#include "bench/worker.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "bench/machine.h"
#include "lm/recipes.h"
#include "lm/training.h"
#include "tensor/allocator.h"
#include "tensor/gemm.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// Updates for at least `seconds`.
Json train_for(Training& training, double seconds) {
  int64_t symbols = 0;
  const size_t allocations = memory_statistics(Device::cpu).system_allocations;
  const double start = now();
  Chunk chunk;
  while (now() - start < seconds) {
    if (training.next_chunk(chunk))
      symbols += training.update(chunk).symbols;
    else
      training.begin_next_epoch();
  }
  return {{"symbols", symbols},
          {"seconds", now() - start},
          {"system_allocations", memory_statistics(Device::cpu).system_allocations - allocations}};
}

Json profile_for(Training& training, double seconds) {
  set_profiling(true);
  Json answer = train_for(training, seconds);
  for (const ProfileEntry& entry : profile())
    answer["entries"].push_back({{"kind", entry.kind},
                                 {"name", entry.name},
                                 {"calls", entry.calls},
                                 {"seconds", entry.seconds},
                                 {"operations", entry.operations}});
  set_profiling(false);
  return answer;
}

}  // namespace

int64_t vocabulary_size(const Recipe& recipe) { return recipe.data.unit == "words" ? 10000 : 50; }

void train_on_request(const std::string& recipe_file, const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  const Recipe recipe = resolve_recipe(recipe_file, settings);
  const int64_t V = vocabulary_size(recipe);
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any_symbol(0, static_cast<int32_t>(V) - 1);
  std::vector<int32_t> ids(static_cast<size_t>(recipe.train.batch * recipe.train.length * 50 + 1));
  std::generate(ids.begin(), ids.end(), [&] { return any_symbol(random); });
  Training training(recipe, V, ids);
  Chunk chunk;
  for (int i = 0; i < warm_up_updates && training.next_chunk(chunk); ++i) training.update(chunk);
  std::cout << Json{{"what", "lm"},
                    {"kernels", "OpenBLAS " + blas_kernel()},
                    {"threads", threads()},
                    {"parameters", training.model().parameter_count()}}
            << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const bool profiled = word == "profile";
    if (profiled) words >> word;
    const double seconds = std::stod(word);
    std::cout << (profiled ? profile_for(training, seconds) : train_for(training, seconds)) << std::endl;
  }
}

}  // namespace rondo
