// `lm info`: the modules and shapes of a model, and the lists of operators, settings and cells. Nothing is
// trained or measured: memory is an estimate.
#include "lm/program/info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autograd/pointwise.h"
#include "data/text.h"
#include "lm/program/memory_estimate.h"
#include "lm/program/model.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/verify.h"
#include "nn/cells/catalogue.h"
#include "nn/models/language_model.h"
#include "tensor/available_memory.h"
#include "tensor/gemm.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

struct Subject {
  Recipe recipe;
  std::int64_t vocabulary_size = 0;
  std::string run;     // empty: a recipe
  Provenance made_by;  // of a run
};

Subject subject_of(const InfoOptions& options) {
  if (!options.run.empty()) {
    const OpenRun run = open_run_without_weights(options.run);
    return {run.config.recipe, run.vocabulary.size(), options.run, run.config.made_by};
  }
  const Recipe recipe = resolve_recipe(options.recipe, options.settings);
  check_input(recipe.kind != TaskKind::classification,
              "info --recipe {}: its task is classification, whose models lm info does not describe",
              options.recipe);
  const std::int64_t size =
      options.vocabulary_size > 0 ? options.vocabulary_size : recipe.data.limits.max_size;
  check_input(size > 0,
              "info --recipe {}: how many symbols has the text? Say --vocab-size N: 10000 for words of the "
              "Penn Treebank, "
              "33278 of WikiText-2, 256 for bytes",
              options.recipe);
  return {recipe, size, "", {}};
}

/// The module of a parameter: its name up to the last dot.
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

/// The number of values that are saved but not trained.
std::int64_t statistics_of(const Module& model) {
  std::int64_t count = 0;
  for (const Buffer* buffer : model.buffers()) count += buffer->shape().size();
  return count;
}

void print_model(const Subject& subject, const LanguageModel& model) {
  const Recipe& recipe = subject.recipe;
  if (!subject.run.empty())
    fmt::print("run         {}, of {} by version {} on {} in {} with {} threads\n", subject.run,
               printable(subject.made_by.data), subject.made_by.version, name_of(subject.made_by.device),
               name_of(subject.made_by.precision), subject.made_by.threads);
  fmt::print("recipe      {}: {}\n", recipe.name, printable(recipe.description));
  if (!recipe.paper.empty()) fmt::print("paper       {}\n", printable(recipe.paper));
  const LanguageModelOptions& model_settings = recipe.model;
  if (model_settings.hidden.size() == 1)
    fmt::print("model       {} x {} {}", model_settings.layers, model_settings.hidden.front(),
               model_settings.cell);
  else
    fmt::print("model       {} {}", fmt::join(model_settings.hidden, " + "), model_settings.cell);
  if (model_settings.major_ratio != LanguageModelOptions{}.major_ratio)
    fmt::print(", of which major {}", fmt::join(model_settings.major_ratio, ", "));
  if (!model_settings.output_layers.empty())
    fmt::print(", then {} {}", fmt::join(model_settings.output_layers, " + "),
               model_settings.output_activation == OutputActivation::tanh ? "tanh" : "linear");
  if (model_settings.experts > 1) fmt::print(", a mixture of {} softmaxes", model_settings.experts);
  fmt::print("\n");
  fmt::print("symbols     {} {}\n\n", subject.vocabulary_size, name_of(recipe.data.tokenization.unit));
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
  fmt::print("memory      about {} in tensors to train, {} to evaluate\n",
             bytes_text(training_bytes(recipe, model)), bytes_text(evaluation_bytes(recipe, model)));
  fmt::print("computes    on cpu, {} threads, {} kernels (OpenBLAS)\n", threads(), blas_kernel());
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Json model_json(const Subject& subject, const LanguageModel& model) {
  Json json;
  if (!subject.run.empty()) json["run"] = subject.run;
  json["recipe"] = subject.recipe.name;
  json["unit"] = name_of(subject.recipe.data.tokenization.unit);
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
  json["evaluation_bytes"] = evaluation_bytes(subject.recipe, model);
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

void print_cells(const InfoOptions& options) {
  Json list = Json::array();
  if (options.markdown) fmt::print("| `model.cell` | description | settings |\n|---|---|---|\n");
  for (const std::string& name : cell_names()) {
    CellSettings settings;
    std::vector<std::string> keys;
    for (const Key& key : keys_of(settings, name)) keys.push_back(key.name);
    if (options.json)
      list.push_back({{"name", name}, {"description", description_of(name)}, {"settings", keys}});
    else if (options.markdown)
      fmt::print("| `{}` | {} | {} |\n", name, description_of(name), fmt::join(keys, ", "));
    else
      fmt::print("{:<16} {}{}{}\n", name, description_of(name),
                 keys.empty() ? "" : "\n                   model.", fmt::join(keys, ", model."));
  }
  if (options.json) print_json({{"cells", list}});
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

int info(const InfoOptions& options) {
  if (options.verify) return verify(options.run, options.json);
  if (options.operators) {
    print_operators(options.json);
  } else if (options.keys) {
    print_keys(options.json);
  } else if (options.cells) {
    print_cells(options);
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
