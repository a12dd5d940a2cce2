// Trainings on request: see worker.h.
#include "bench/worker.h"

#include <algorithm>
#include <iostream>
#include <random>

#include "autograd/cross_entropy.h"
#include "autograd/functions.h"
#include "bench/machine.h"
#include "cuda/runtime.h"
#include "lm/tasks/translation.h"
#include "nn/cells/join.h"
#include "tensor/allocator.h"
#include "tensor/products/gemm.h"
#include "tensor/products/precision.h"
#include "tensor/profile.h"
#include "tensor/random.h"
#include "tensor/threads.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

/// Enough where all batches have the same shape.
constexpr int64_t warm_up_updates = 3;

Json updates_for(const std::function<int64_t()>& update, double seconds, Device device) {
  const auto launched = [device] { return device == Device::cuda ? cuda::launches() : 0; };
  int64_t symbols = 0, updates = 0;
  const int64_t launches = launched();
  const size_t allocations = memory_statistics(device).system_allocations;
  const auto start = Clock::now();
  for (; seconds_since(start) < seconds; ++updates) symbols += update();
  if (device == Device::cuda) cuda::synchronize();
  const double needed = seconds_since(start);
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

/// Symbols below `limit`, uniformly.
std::vector<int32_t> random_symbols(int64_t count, int64_t limit) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any_symbol(0, static_cast<int32_t>(limit) - 1);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  std::generate(ids.begin(), ids.end(), [&] { return any_symbol(random); });
  return ids;
}

/// Returns the settings by which a peer makes the same updates.
Json settings_of(const TrainerOptions& trainer) {
  return {{"optimizer", name_of(trainer.optimizer.kind)},
          {"learning_rate", trainer.optimizer.learning_rate.value_or(0)},
          {"clip", trainer.clip}};
}

}  // namespace

void answer_requests(const Json& introduction, const std::function<int64_t()>& update, Device device,
                     int64_t warm_up) {
  for (int64_t i = 0; i < warm_up; ++i) update();
  Json complete{{"what", "lm"}, {"kernels", "OpenBLAS " + blas_kernel()}, {"threads", threads()}};
  complete.update(introduction);
  std::cout << complete << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "peak") {
      std::cout << Json{{"gflops", measured_peak(*multiplication().kernels, threads())}} << std::endl;
      continue;
    }
    const bool profiled = line.starts_with("profile ");
    const double seconds = std::stod(profiled ? line.substr(8) : line);
    std::cout << (profiled ? profiled_for(update, seconds, device) : updates_for(update, seconds, device))
              << std::endl;
  }
}

void train_a_step(Trainer& trainer, Device device) {
  if (!trainer.next_batch()) {
    trainer.begin_next_epoch();
    trainer.next_batch();
  }
  trainer.set_replay(!profiling());  // a replayed step cannot be profiled
  trainer.step();
  if (device == Device::cpu) trainer.metrics();  // as a training reads its loss; a GPU would be waited for
}

// ---- A recipe.

int64_t vocabulary_size(const Recipe& recipe) {
  return recipe.language_model().data.tokenization.unit == Unit::words ? 10000 : 50;
}

Json model_of(const Recipe& recipe) {
  const LanguageModelOptions options = layer_by_layer(model_options(recipe.language_model()));
  Json model{{"cell", options.cell},
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
             {"warm_up_updates", warm_up_updates}};
  model.update(settings_of(recipe.trainer));
  return model;
}

Recipe recipe_with(const std::string& recipe_file, const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  return resolve_recipe(recipe_file, settings);
}

void train_on_request(const Recipe& recipe, Device device) {
  const int64_t V = vocabulary_size(recipe);
  const auto& batches = recipe.language_model().train.batches;
  const std::vector<int32_t> ids = random_symbols(batches.batch * batches.chunks.length * 50 + 1, V);
  Training training(recipe, V, ids, {}, device);
  const auto update = [&] {
    train_a_step(training.trainer, device);
    return training.task.chunk().scored;
  };
  answer_requests({{"parameters", training.model.parameter_count()}, {"model", model_of(recipe)}}, update,
                  device, warm_up_updates);
}

// ---- The output layer of a mixture.

namespace {

/// Uniform in (-0.1, 0.1), with a gradient.
Variable leaf(Shape shape, uint64_t seed) {
  const Tensor value(shape);
  fill_uniform(value, {.seed = seed}, real(-0.1), real(0.1));
  return Variable::leaf(value, Tensor::zeros(shape));
}

constexpr int64_t mixture_rows = 12 * 70, experts = 15, mixture_width = 280, mixture_vocabulary = 10000;

}  // namespace

Json mixture_shape() {
  return {{"rows", mixture_rows},
          {"experts", experts},
          {"embedding", mixture_width},
          {"vocabulary", mixture_vocabulary},
          {"warm_up_updates", warm_up_updates}};
}

void mixture_on_request() {
  const Variable latents = leaf({mixture_rows, experts * mixture_width}, 1),
                 prior_logits = leaf({mixture_rows, experts}, 2),
                 weight = leaf({mixture_vocabulary, mixture_width}, 3), bias = leaf({mixture_vocabulary}, 4);
  const Tokens targets = tokens(random_symbols(mixture_rows, mixture_vocabulary));
  const auto update = [&] {
    mixture_cross_entropy(latents, log_softmax(prior_logits), weight, bias, targets).total.backward();
    return mixture_rows;
  };
  answer_requests({{"parameters", mixture_vocabulary * (mixture_width + 1)}}, update, Device::cpu,
                  warm_up_updates);
}

// ---- An encoder-decoder.

namespace {

constexpr int32_t source_vocabulary = 7857, target_vocabulary = 5919;  // of words that occur twice or more

/// 50 batches of 64 sources of 4 to 22 symbols and an end symbol, 14 on average, and targets that are about
/// as long.
Pairs random_pairs() {
  std::mt19937 random(1);
  const auto below = [&](int32_t limit) {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(limit));
  };
  const auto sentence = [&](int32_t length, int32_t vocabulary) {
    std::vector<int32_t> ids(static_cast<size_t>(length));
    for (int32_t& id : ids) id = 1 + below(vocabulary - 1);
    ids.push_back(0);
    return ids;
  };
  Pairs pairs;
  for (int64_t i = 0; i < 50 * 64; ++i) {
    const int32_t length = 4 + below(7) + below(7) + below(7);
    pairs.source.add(sentence(length, source_vocabulary));
    pairs.target.add(sentence(std::max(1, length - 3 + below(7)), target_vocabulary));
  }
  return pairs;
}

}  // namespace

Json translation_shape() {
  const Recipe it = resolve_recipe("attention-multi30k", {});
  const TranslationSettings& settings = dynamic_cast<TranslationTask&>(*it.task).settings;
  const EncoderDecoderOptions& model = settings.model;
  Json shape{{"source_vocabulary", source_vocabulary},
             {"target_vocabulary", target_vocabulary},
             {"embedding", model.embedding},
             {"hidden", model.hidden},
             {"readout", model.readout_width()},
             {"attention", name_of(model.attention)},
             {"tied", name_of(model.tied)},
             {"dropout", model.dropout},
             {"label_smoothing", settings.train.label_smoothing}};
  shape.update(settings_of(it.trainer));
  const Pairs pairs = random_pairs();
  PairBatches batches(settings.train.batches, pairs, 1);
  for (PairBatch batch; batches.next(batch);)
    shape["batches"].push_back({batch.source.lengths, batch.target.lengths});
  shape["warm_up_updates"] = shape["batches"].size();  // an epoch: most batches have shapes of their own
  return shape;
}

void translation_on_request(Device device) {
  const Recipe it = resolve_recipe("attention-multi30k", {});
  const TranslationSettings& settings = dynamic_cast<TranslationTask&>(*it.task).settings;
  const Pairs pairs = random_pairs();
  const TranslationText none;
  EncoderDecoder model(settings.model, source_vocabulary, target_vocabulary, 1, device);
  Translation task(model, settings.train, pairs, none);
  Trainer trainer(task, it.trainer);
  const Json shape = translation_shape();
  const auto update = [&] {
    train_a_step(trainer, device);
    return task.staged().scored;
  };
  answer_requests({{"parameters", model.parameter_count()}, {"model", shape}}, update, device,
                  shape["warm_up_updates"]);
}

}  // namespace rondo
