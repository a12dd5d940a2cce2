// One recipe trained on random symbols, by the code that `lm train` runs.
#include "bench/worker.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "bench/machine.h"
#include "cuda/runtime.h"
#include "lm/program/recipe.h"
#include "nn/cells/join.h"
#include "tensor/allocator.h"
#include "tensor/products/gemm.h"
#include "tensor/profile.h"
#include "tensor/threads.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

using Json = Peer::Json;

Json updates_for(const std::function<int64_t()>& update, double seconds, Device device) {
  const auto launched = [device] { return device == Device::cuda ? cuda::launches() : 0; };
  int64_t symbols = 0, updates = 0;
  const int64_t launches = launched();
  const size_t allocations = memory_statistics(device).system_allocations;
  const double start = now();
  for (; now() - start < seconds; ++updates) symbols += update();
  if (device == Device::cuda) cuda::synchronize();
  const double needed = now() - start;
  const MemoryStatistics memory = memory_statistics(device);
  return {{"symbols", symbols},
          {"seconds", needed},
          {"launches_an_update", (launched() - launches) / updates},
          {"system_allocations", memory.system_allocations - allocations},
          {"peak_bytes", memory.peak_bytes}};
}

Json profiled_for(const std::function<int64_t()>& update, double seconds, Device device) {
  set_profiling(true);
  Json answer = updates_for(update, seconds, device);
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

void answer_requests(const Json& introduction, const std::function<int64_t()>& update, Device device,
                     int64_t warm_up) {
  for (int64_t i = 0; i < warm_up; ++i) update();
  Json complete{{"what", "lm"}, {"kernels", "OpenBLAS " + blas_kernel()}, {"threads", threads()}};
  complete.update(introduction);
  std::cout << complete << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const bool profiled = word == "profile";
    if (profiled) words >> word;
    const double seconds = std::stod(word);
    std::cout << (profiled ? profiled_for(update, seconds, device) : updates_for(update, seconds, device))
              << std::endl;
  }
}

int64_t vocabulary_size(const Recipe& recipe) {
  return recipe.language_model().data.tokenization.unit == Unit::words ? 10000 : 50;
}

Json model_of(const Recipe& recipe) {
  const LanguageModelOptions options = model_options(recipe.language_model());
  return {{"cell", options.cell},
          {"embedding", options.embedding},
          {"hidden", options.hidden},
          {"tied", options.tied},
          {"dropout", options.dropout},
          {"experts", options.experts},
          {"major_ratio", options.major_ratio},
          {"weight_drop", options.regularization.weight_drop},
          {"biases", options.cell_settings.get<GateBiasSettings>().biases},
          {"vocabulary", vocabulary_size(recipe)},
          {"batch", recipe.language_model().train.batches.batch},
          {"length", recipe.language_model().train.batches.chunks.length},
          {"optimizer", name_of(recipe.trainer.optimizer.kind)},
          {"learning_rate", recipe.trainer.optimizer.learning_rate.value_or(0)},
          {"clip", recipe.trainer.clip},
          {"warm_up_updates", warm_up_updates}};
}

void train_on_request(const std::string& recipe_file, const std::vector<std::string>& texts, Device device) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  const Recipe recipe = resolve_recipe(recipe_file, settings);
  const int64_t V = vocabulary_size(recipe);
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any_symbol(0, static_cast<int32_t>(V) - 1);
  std::vector<int32_t> ids(static_cast<size_t>(recipe.language_model().train.batches.batch *
                                                   recipe.language_model().train.batches.chunks.length * 50 +
                                               1));
  std::generate(ids.begin(), ids.end(), [&] { return any_symbol(random); });
  Training training(recipe, V, ids, {}, device);
  const Json introduction{{"parameters", training.model.parameter_count()}, {"model", model_of(recipe)}};
  const auto update = [&] {
    if (!training.trainer.next_batch()) {
      training.trainer.begin_next_epoch();
      training.trainer.next_batch();
    }
    training.trainer.set_replay(!profiling());  // a replayed step cannot be profiled
    training.trainer.step();
    // As a training reads its loss; a GPU would be waited for.
    if (device == Device::cpu) training.trainer.metrics();
    return training.task.chunk().scored;
  };
  answer_requests(introduction, update, device);
}

}  // namespace rondo
