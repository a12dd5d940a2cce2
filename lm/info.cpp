// `lm info`: a model taken apart, and the two lists that Rondo keeps of itself (operators, settings of
// recipes). It deliberately trains and measures nothing: memory is an estimate.
#include "lm/info.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/cross_entropy.h"
#include "autograd/pointwise.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/recipes.h"
#include "lm/run.h"
#include "nn/language_model.h"
#include "tensor/gemm.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

struct Subject {
  Recipe recipe;
  std::int64_t vocabulary_size = 0;
  std::string run;  // empty: a recipe
  MadeBy made_by;   // of a run
};

Subject subject_of(const InfoOptions& options) {
  if (!options.run.empty()) {
    const OpenRun run = open_run(options.run);
    return {run.config.recipe, run.vocabulary.size(), options.run, run.config.made_by};
  }
  const Recipe recipe = resolve_recipe(options.recipe, options.settings);
  const std::int64_t size = options.vocabulary_size > 0 ? options.vocabulary_size : recipe.data.max_size;
  check_input(size > 0, "info --recipe {}: how many symbols? As in --vocab-size 10000", options.recipe);
  return {recipe, size, "", {}};
}

/// The module that holds a parameter: what stands before the last dot of its name.
std::string module_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// Parameters per module, in the order of the model.
std::vector<std::pair<std::string, std::int64_t>> counts_by_module(const Module& model) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const Segment& segment : model.segments()) {
    const std::string module = module_of(segment.name);
    if (counts.empty() || counts.back().first != module) counts.emplace_back(module, 0);
    counts.back().second += segment.shape.size();
  }
  return counts;
}

/// Numbers that are saved but not trained.
std::int64_t statistics_of(const Module& model) {
  std::int64_t count = 0;
  for (const Buffer* buffer : model.buffers()) count += buffer->shape().size();
  return count;
}

void print_model(const Subject& subject, const Module& model) {
  const Recipe& recipe = subject.recipe;
  if (!subject.run.empty())
    fmt::print("run         {}, of {} by version {} with {} threads\n", subject.run, subject.made_by.data,
               subject.made_by.version, subject.made_by.threads);
  fmt::print("recipe      {}: {}\n", recipe.name, recipe.description);
  if (!recipe.paper.empty()) fmt::print("paper       {}\n", recipe.paper);
  const Recipe::Model& model_settings = recipe.model;
  if (model_settings.hidden.size() == 1)
    fmt::print("model       {} x {} {}", model_settings.layers, model_settings.hidden.front(),
               model_settings.cell);
  else
    fmt::print("model       {} {}", fmt::join(model_settings.hidden, " + "), model_settings.cell);
  if (model_settings.major_ratio != Recipe::Model{}.major_ratio)
    fmt::print(", of which major {}", fmt::join(model_settings.major_ratio, ", "));
  if (!model_settings.output_layers.empty())
    fmt::print(", then {} tanh", fmt::join(model_settings.output_layers, " + "));
  if (model_settings.experts > 1) fmt::print(", a mixture of {} softmaxes", model_settings.experts);
  fmt::print("\n");
  fmt::print("symbols     {} {}\n\n", subject.vocabulary_size, recipe.data.unit);
  for (const auto& [module, count] : counts_by_module(model)) {
    fmt::print("{:<42} {:>14} parameters\n", module, count);
    for (const Segment& segment : model.segments()) {
      if (module_of(segment.name) != module) continue;
      fmt::print("  {:<24} {:<15} {:>14}", segment.name.substr(module.size() + 1), segment.shape.to_string(),
                 segment.shape.size());
      for (const std::string& alias : segment.aliases) fmt::print("  also {}", alias);
      fmt::print("\n");
    }
  }
  fmt::print("{:<42} {:>14} parameters\n\n", "in all", model.parameter_count());
  if (const std::int64_t kept = statistics_of(model); kept > 0)
    fmt::print("statistics  {} numbers, saved but not trained\n", kept);
  fmt::print("training    about {}B in tensors\n",
             short_number(static_cast<double>(training_bytes(recipe, model))));
  fmt::print("computes    on cpu, {} threads, {} kernels (OpenBLAS)\n", threads(), blas_kernel());
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Json model_json(const Subject& subject, const Module& model) {
  Json json;
  if (!subject.run.empty()) json["run"] = subject.run;
  json["recipe"] = subject.recipe.name;
  json["unit"] = subject.recipe.data.unit;
  json["vocabulary_size"] = subject.vocabulary_size;
  json["parameters"] = model.parameter_count();
  for (const auto& [module, count] : counts_by_module(model)) json["modules"][module] = count;
  for (const Segment& segment : model.segments()) {
    Json shape = Json::array();
    for (int i = 0; i < segment.shape.dimensions(); ++i) shape.push_back(segment.shape[i]);
    json["tensors"].push_back({{"name", segment.name}, {"shape", shape}, {"aliases", segment.aliases}});
  }
  json["statistics"] = statistics_of(model);
  json["training_bytes"] = training_bytes(subject.recipe, model);
  json["device"] = "cpu";
  json["threads"] = threads();
  json["blas_kernel"] = blas_kernel();
  return json;
}

void print_operators(bool as_json) {
  Json list = Json::array();
  for (const PointwiseOperator& it : pointwise_operators()) {
    if (as_json)
      list.push_back(
          {{"name", it.name}, {"inputs", it.inputs}, {"outputs", it.outputs}, {"equation", it.equation}});
    else
      fmt::print("{:<22} {} in, {} out  {}\n", it.name, it.inputs, it.outputs, it.equation);
  }
  if (as_json) print_json({{"operators", list}});
}

void print_keys(bool as_json) {
  Recipe recipe;
  const std::vector<Key> keys = keys_of(recipe);
  if (!as_json) {
    fmt::print("{}", list_keys(keys));
    return;
  }
  Json list = Json::array();
  for (const Key& key : keys)
    list.push_back({{"name", key.name},
                    {"default", value_text(key)},
                    {"accepts", accepted_text(key)},
                    {"unit", key.unit},
                    {"documentation", key.doc}});
  print_json({{"keys", list}});
}

}  // namespace

/// 9/8 x 4 bytes x (P (2 + S) + 2 (R + R') + N (E + G + A H + W + L + D) + max(B V + N F + V O, N widest)),
/// with
///   P parameters: values, gradients and S vectors of optimizer state;
///   R recurrent and output weights, packed for forward and for backward (as long as streams are few enough
///   for that, and chunks too long for it to befall input weights); where there is weight drop, R' recurrent
///   ones, with a mask and what it leaves of them;
///   N = streams at once x length, the rows of a chunk (of lines: as if none were longer than that). Forward
///   leaves for backward in each row the embedding E (one-hot: V); the gates G of all cells and what their
///   joins and inner layers keep; for each of the H units of all layers A numbers of state (h, c or its like,
///   what a cell computes on the way, and what noise and a minor cell add); the output layers' widths W; a
///   mixture's latents, before and after tanh, L; and for each place with dropout a result as wide as what it
///   acts on and, where steps do not share it, a mask, D. On top of that lies what the loss takes: a block of
///   B rows of logits V, the gradient of its input, F wide, and of its weight, O wide; and later the gradient
///   of h. Those of the gates overwrite them.
/// The allocator rounds blocks up, by an eighth on average. Measured peaks are within a quarter of it.
std::int64_t training_bytes(const Recipe& recipe, const Module& model) {
  const Tensor nothing = Tensor::zeros({1});
  const auto S = static_cast<std::int64_t>(
      make_optimizer(optimizer_options(recipe), nothing, nothing)->state_tensors().size());
  const std::int64_t P = model.parameter_count();
  const LanguageModelOptions options = model_options(recipe);
  const std::vector<std::int64_t>& hidden = options.hidden;
  const std::int64_t H = std::accumulate(hidden.begin(), hidden.end(), std::int64_t{0});
  const std::int64_t widest = *std::max_element(hidden.begin(), hidden.end());
  const std::int64_t streams = recipe.train.micro_batch > 0 ? recipe.train.micro_batch : recipe.train.batch;
  const std::int64_t N = streams * recipe.train.length;
  const auto& widths = recipe.model.output_layers;
  const std::int64_t W = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  std::int64_t V = 0, R = 0, inner = 0;
  std::map<std::string, std::int64_t> gates, times;  // of each cell, by the suffix of its parameters
  for (const Segment& segment : model.segments()) {
    if (segment.name == "embedding.weight" || segment.name == "decoder.weight") V = segment.shape.rows();
    if (!segment.name.starts_with("rnn.")) continue;
    const std::size_t at = segment.name.find("_l");
    const std::string name = segment.name.substr(4, at - 4), cell = segment.name.substr(at);
    std::int64_t& kept = times.try_emplace(cell, 1).first->second;
    // Where W x and U h are not simply added, both remain, and their sum; with batch normalisation the
    // normalised ones, too, and a gradient, which cannot overwrite what the statistics still need.
    if (name == "alpha") kept += 2;
    if (name == "gamma_ih") kept += 4;
    if (segment.shape.dimensions() != 2) continue;
    gates[cell] = std::max(gates[cell], segment.shape.rows());
    const bool of_inner_layer = name.starts_with("weight_") && std::isdigit(name.back());
    if (of_inner_layer) inner += 2 * segment.shape.rows();  // before and after tanh
    if (of_inner_layer || name == "weight_hh" || name == "weight_hm" || name == "weight_mh" ||
        name == "weight_shortcut")
      R += segment.shape.size();
  }
  std::int64_t G = inner;
  for (const auto& [cell, rows] : gates) G += times.at(cell) * rows;
  const RecurrentNoise& noise = options.noise;
  std::int64_t A = 3;
  if (noise.dropout > 0) A += 1;
  if (noise.zoneout > 0) A += 2;  // the mask, and the state that it is laid on
  if (noise.zoneout_memory > 0) A += 2;
  if (gates.size() > hidden.size()) A += 2;  // two cells' states, joined
  const std::int64_t E = options.embedding > 0 ? options.embedding : V, K = options.experts;
  const std::int64_t last = widths.empty() ? hidden.back() : widths.back();
  const std::int64_t O = K > 1 && options.embedding > 0 ? E : last, F = K * O, L = K > 1 ? 2 * F : 0;
  std::int64_t D = options.embedding_dropout > 0 ? E : 0;
  const auto add_dropout = [&](double rate, std::int64_t width) {
    if (rate > 0) D += (options.variational ? 1 : 2) * width;
  };
  add_dropout(options.input_dropout.value_or(options.dropout), E);
  add_dropout(options.hidden_dropout.value_or(options.dropout), H - hidden.back());
  add_dropout(options.output_dropout.value_or(options.dropout), hidden.back());
  add_dropout(options.latent_dropout, F);
  const std::int64_t dropped = noise.weight_drop > 0 ? R : 0, B = cross_entropy_block_rows(N * K, V, K);
  const std::int64_t chunk = N * (E + G + A * H + W + L + D) + std::max(B * V + N * F + V * O, N * widest);
  return static_cast<std::int64_t>(sizeof(real)) * (P * (2 + S) + 2 * (R + V * O + dropped) + chunk) * 9 / 8;
}

int info(const InfoOptions& options) {
  if (options.operators) {
    print_operators(options.json);
  } else if (options.keys) {
    print_keys(options.json);
  } else {
    const Subject subject = subject_of(options);
    const LanguageModel model(model_options(subject.recipe), subject.vocabulary_size, std::nullopt);
    if (options.json)
      print_json(model_json(subject, model));
    else
      print_model(subject, model);
  }
  return 0;
}

}  // namespace rondo
