// `lm info`: the modules and shapes of a model of a run or a recipe, and the lists of operators, settings and
// cells. Nothing is trained: memory is measured on a device without any (lm/training/memory.h).
#include <fmt/ranges.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/pointwise.h"
#include "data/text.h"
#include "lm/commands/options.h"
#include "lm/program/assumed_data.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/published.h"
#include "lm/program/recipe.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/program/terminal.h"
#include "lm/program/text_table.h"
#include "lm/training/memory.h"
#include "nn/cells/catalogue.h"
#include "nn/models/language_model.h"
#include "nn/models/shared_encoder_decoders.h"
#include "tensor/available_memory.h"
#include "tensor/gemm.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

struct InfoOptions {
  // Exactly one of these five is given.
  std::string run;
  std::string recipe;
  bool operators = false;
  bool keys = false;
  bool cells = false;

  std::vector<Setting> settings;     // they override the recipe's
  std::int64_t vocabulary_size = 0;  // with recipe; 0: the recipe's data.max_size
  std::string data;                  // with recipe, of language models: its vocabulary is counted
  bool json = false;
  bool markdown = false;  // with cells: the table of docs/cells.md
};

using Json = nlohmann::ordered_json;

struct Subject {
  Recipe recipe;
  std::vector<std::int64_t> vocabulary_sizes;  // of translation: the source's and the target's
  std::unique_ptr<Module> model;               // without memory
  std::string run;                             // empty: a recipe
  Provenance made_by;                          // of a run
};

Subject subject_of_run(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  std::vector<std::int64_t> sizes = sizes_of(symbol_tables(folder, config));
  std::unique_ptr<Module> model = make_layout(config.recipe, sizes);
  check_has_model(folder, *model);
  return {std::move(config.recipe), std::move(sizes), std::move(model), path, std::move(config.made_by)};
}

/// That `lm train` would make of this text.
std::int64_t vocabulary_size_of(const Recipe& recipe, const std::string& data) {
  const CorpusText text = open_text(recipe.data, data, Pipes::accepted, reading_progress(stderr));
  return vocabulary_of(recipe.data, text, SymbolOrder::first_occurrence).size();
}

Subject subject_of(const InfoOptions& options) {
  if (!options.run.empty()) return subject_of_run(options.run);
  const Recipe recipe = resolve_recipe(options.recipe, options.settings);
  const bool is_language_model = recipe.kind == TaskKind::language_modelling;
  check_input(options.data.empty() || is_language_model,
              "info --data: counts the vocabulary of language models, and {} is for {}; give --vocab-size N",
              options.recipe, name_of(recipe.kind));
  const std::int64_t size = !options.data.empty()         ? vocabulary_size_of(recipe, options.data)
                            : options.vocabulary_size > 0 ? options.vocabulary_size
                                                          : limits_of(recipe).max_size;
  check_input(size > 0, "info --recipe {}: vocabulary size unknown; give {}", options.recipe,
              is_language_model
                  ? "--data DIR, or --vocab-size N: 10000 for words of the Penn Treebank, 33278 of "
                    "WikiText-2, 256 for bytes"
                  : "--vocab-size N: a training prints that of its text, such as 8000");
  std::vector<std::int64_t> sizes(vocabulary_paths(RunFolder(), recipe).size(), size);
  if (recipe.kind == TaskKind::classification)
    sizes.back() = 2;  // classes, of which the recipe does not tell
  if (recipe.kind == TaskKind::question_answering)
    sizes.push_back(recipe.question_answering.data.questions.entities);
  return {recipe, sizes, make_layout(recipe, sizes), "", {}};
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

/// What a training and an evaluation of made-up data take on a CPU.
TrainingMemory memory_of(const Subject& subject) {
  AssumedData data(subject.recipe, subject.vocabulary_sizes);
  return measure_training_memory(
      Device::cpu, subject.recipe.trainer,
      [&](Device) { return make_layout(subject.recipe, subject.vocabulary_sizes); },
      [&](Module& model) { return data.make_task(model); });
}

/// The number of values that a model saves but does not train.
std::int64_t statistics_of(const Module& model) {
  std::int64_t count = 0;
  for (const Buffer* buffer : model.buffers()) count += buffer->shape().size();
  return count;
}

void print_shape(const LanguageModelOptions& it) {
  if (it.hidden.size() == 1)
    fmt::print("model       {} x {} {}", it.layers, it.hidden.front(), it.cell);
  else
    fmt::print("model       {} {}", fmt::join(it.hidden, " + "), it.cell);
  if (it.major_ratio != LanguageModelOptions{}.major_ratio)
    fmt::print(", of which major {}", fmt::join(it.major_ratio, ", "));
  if (!it.output_layers.empty())
    fmt::print(", then {} {}", fmt::join(it.output_layers, " + "),
               it.output_activation == OutputActivation::tanh ? "tanh" : "linear");
  if (it.experts > 1) fmt::print(", a mixture of {} softmaxes", it.experts);
  if (it.output == OutputKind::adaptive) fmt::print(", an adaptive softmax");
  fmt::print("\n");
}

void print_shape(const EncoderDecoderOptions& it) {
  fmt::print("model       {}{} x {} {} to {} x {} {}, {}\n", it.bidirectional ? "bidirectional " : "",
             it.encoder_layers, it.hidden, it.cell, it.decoder_layers, it.hidden, it.cell,
             it.attention == SourceAttention::none ? "fixed context" : name_of(it.attention) + " attention");
}

void print_shape(const SentenceClassifierOptions& it) {
  fmt::print("model       {}{} x {} {}, {} over time\n", it.bidirectional ? "bidirectional " : "", it.layers,
             it.hidden, it.cell, name_of(it.summary));
}

void print_shape(const AttentiveReaderOptions& it) {
  fmt::print("model       attentive reader, {}{} x {} {} for each text\n",
             it.bidirectional ? "bidirectional " : "", it.layers, it.hidden, it.cell);
}

void print_shape(const SkipThoughtOptions& it) {
  fmt::print("model       {}-skip {} {}, decoders {} {}\n", name_of(it.encoder), it.hidden, it.cell,
             it.hidden, it.decoder_cell);
}

void print_shape(const CtcModelOptions& it) {
  fmt::print("model       {}{} x {} {}, CTC\n", it.bidirectional ? "bidirectional " : "", it.layers,
             it.hidden, it.cell);
}

std::string origin_of(const Provenance& made_by) {
  return made_by.sha256.empty() ? "imported from " + printable(made_by.imported_from)
                                : "of " + name_of_text(made_by.data);
}

void print_model(const Subject& subject) {
  const TrainingMemory memory = memory_of(subject);  // first, for it may refuse the recipe
  const Recipe& recipe = subject.recipe;
  const Module& model = *subject.model;
  if (!subject.run.empty())
    fmt::print("run         {}, {} by version {} on {} in {} with {}\n", subject.run,
               origin_of(subject.made_by), subject.made_by.version, name_of(subject.made_by.device),
               name_of(subject.made_by.precision), counted_text(subject.made_by.threads, "threads"));
  fmt::print("recipe      {}{}: {}\n", recipe.name,
             changed_keys(recipe, !subject.made_by.finetuned_from.empty()).empty() ? "" : ", changed from",
             printable(recipe.description));
  if (!recipe.paper.empty()) fmt::print("paper       {}\n", printable(recipe.paper));
  if (recipe.kind == TaskKind::language_modelling)
    print_shape(recipe.model);
  else if (recipe.kind == TaskKind::classification)
    print_shape(recipe.classification.model);
  else if (recipe.kind == TaskKind::question_answering)
    print_shape(recipe.question_answering.model);
  else if (recipe.kind == TaskKind::skip_thought)
    print_shape(recipe.skip_thought.model);
  else if (recipe.kind == TaskKind::speech)
    print_shape(recipe.speech.model);
  else
    print_shape(recipe.translation.model);
  for (const MixedTaskOptions& it : recipe.tasks)
    fmt::print("task        {}: {} to {}{}, ratio {}\n", it.name, it.source.empty() ? "nothing" : it.source,
               it.target, it.pairs == PairsOf::lines ? "" : ", pairs = " + name_of(it.pairs), it.ratio);
  const std::vector<std::int64_t>& sizes = subject.vocabulary_sizes;
  const std::string unit = name_of(tokenization_of(recipe).unit);
  if (recipe.kind == TaskKind::classification)
    fmt::print("vocabulary  {} {}, {} classes\n\n", sizes[0], unit, sizes[1]);
  else if (recipe.kind == TaskKind::question_answering)
    fmt::print("vocabulary  {} {}, {} of them entities\n\n", sizes[0], unit, sizes[1]);
  else
    fmt::print("vocabulary  {} {}\n\n", fmt::join(sizes, " and "), unit);
  for (const auto& [module, count] : counts_by_module(model)) {
    fmt::print("{:<42} {:>14} parameters\n", module, count);
    for (const Segment& segment : model.segments()) {
      if (module_of(segment.name) != module) continue;
      const std::string name = segment.name == module ? module : segment.name.substr(module.size() + 1);
      fmt::print("  {:<24} {:<15} {:>14}", name, segment.shape.to_string(), segment.shape.size());
      for (const std::string& alias : segment.aliases) fmt::print("  also {}", alias);
      fmt::print("\n");
    }
  }
  fmt::print("{:<42} {:>14} parameters\n\n", "in all", model.parameter_count());
  if (const std::int64_t kept = statistics_of(model); kept > 0)
    fmt::print("statistics  {} numbers, saved but not trained\n", kept);
  fmt::print("memory      about {} in tensors to train, {} to evaluate\n", bytes_text(memory.training),
             bytes_text(memory.evaluation));
  fmt::print("computes    on cpu, {}, {}; with --precision bf16: {}\n", counted_text(threads(), "threads"),
             kernels_text(Precision::fp32), kernels_text(Precision::bf16));
}

Json model_json(const Subject& subject) {
  const Module& model = *subject.model;
  Json json;
  if (!subject.run.empty()) json["run"] = subject.run;
  json["recipe"] = subject.recipe.name;
  json["unit"] = name_of(tokenization_of(subject.recipe).unit);
  json["cell"] = cell_of(subject.recipe);
  json["seed"] = subject.recipe.trainer.seed;
  json["vocabulary_size"] = subject.vocabulary_sizes.back();
  if (subject.recipe.kind == TaskKind::translation)
    json["source_vocabulary_size"] = subject.vocabulary_sizes.front();
  json["parameters"] = model.parameter_count();
  for (const auto& [module, count] : counts_by_module(model)) json["modules"][module] = count;
  for (const Segment& segment : model.segments()) {
    Json shape = Json::array();
    for (int i = 0; i < segment.shape.dimensions(); ++i) shape.push_back(segment.shape[i]);
    json["tensors"].push_back({{"name", segment.name}, {"shape", shape}, {"aliases", segment.aliases}});
  }
  json["statistics"] = statistics_of(model);
  const TrainingMemory memory = memory_of(subject);
  json["training_bytes"] = memory.training;
  json["evaluation_bytes"] = memory.evaluation;
  json["device"] = "cpu";
  json["threads"] = threads();
  json["kernel"] = name_of(multiplication_of_fp32());
  json["blas_kernel"] = blas_kernel();
  json["bf16"] = {{"kernel", name_of(fastest_multiplication_of_bf16())}, {"speedup", speedup_of_bf16()}};
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
  if (as_json) print_json(Json{{"operators", list}});
}

void print_cells(const InfoOptions& options) {
  Json list = Json::array();
  TextTable table{{"`model.cell`", true}, {"description", true}, {"settings", true}};
  for (const std::string& name : cell_names()) {
    CellSettings settings;
    std::vector<std::string> keys;
    for (const Key& key : keys_of(settings, name)) keys.push_back(key.name);
    if (options.json)
      list.push_back({{"name", name}, {"description", description_of(name)}, {"settings", keys}});
    else if (options.markdown)
      add_row(table, {name, description_of(name), fmt::format("{}", fmt::join(keys, ", "))});
    else
      fmt::print("{:<16} {}{}{}\n", name, description_of(name),
                 keys.empty() ? "" : "\n                   model.", fmt::join(keys, ", model."));
  }
  if (options.json) print_json(Json{{"cells", list}});
  if (options.markdown) fmt::print("{}", markdown_of(table));
}

/// The settings of a recipe; without one, those of language modelling.
void print_keys(const InfoOptions& options) {
  Recipe recipe, standard;
  if (!options.recipe.empty()) recipe = resolve_recipe(options.recipe, options.settings);
  standard.kind = recipe.kind;
  for (const MixedTaskOptions& task : recipe.tasks) standard.tasks.push_back({.name = task.name});
  const std::vector<Key> keys = keys_of(recipe), defaults = keys_of(standard);
  if (!options.json) {
    fmt::print("{}", list_keys(keys, defaults));
    return;
  }
  Json list = Json::array();
  for (const Key& key : keys)
    list.push_back({{"name", key.name},
                    {"value", value_text(key)},
                    {"default", default_text(key, defaults)},
                    {"accepts", accepted_text(key)},
                    {"unit", key.unit},
                    {"documentation", key.doc}});
  print_json(Json{{"keys", list}});
}

/// InputError unless the options ask for one thing.
void check_asked(const InfoOptions& options) {
  const bool only_recipe = !options.recipe.empty() && !options.keys;
  const int asked = !options.run.empty() + only_recipe + options.operators + options.keys + options.cells;
  check_input(options.run.empty() || !options.keys,
              "info: --keys lists the settings of recipes; those of a run: {}",
              RunFolder{options.run}.config().string());
  check_input(asked == 1, "info: give {}one of: a run, --recipe NAME, --operators, --keys, --cells",
              asked > 1 ? "only " : "");
  check_input(!options.markdown || options.cells, "info: --markdown is for --cells");
  check_input(!options.recipe.empty() ||
                  (options.settings.empty() && options.vocabulary_size == 0 && options.data.empty()),
              "info: --set, --vocab-size and --data go with --recipe");
}

/// Prints on stdout. Returns 0.
int info(const InfoOptions& options) {
  if (options.operators) {
    print_operators(options.json);
  } else if (options.keys) {
    print_keys(options);
  } else if (options.cells) {
    print_cells(options);
  } else {
    const Subject subject = subject_of(options);
    if (options.json)
      print_json(model_json(subject));
    else
      print_model(subject);
  }
  return 0;
}

}  // namespace

Command add_info(CommandLine& line) {
  struct Words {
    InfoOptions options;
    std::vector<std::string> sets;
  };
  const auto words = std::make_shared<Words>();
  InfoOptions& options = words->options;
  CLI::App& app = add_command(
      line, "info",
      "show layers, shapes, parameters and memory of a run or a recipe; or list operators, settings, cells",
      "lm info --recipe zaremba-small --vocab-size 10000");
  app.add_option("run", options.run, "a run folder (default: none; then one of the options below)")
      ->type_name("RUN");
  add_text(app, "--recipe", options.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  CLI::Option* size =
      add_value(app, "--vocab-size", options.vocabulary_size, "N", integer(1, 2000000000),
                "size of the vocabulary, with --recipe (default: the recipe's data.max_size)");
  add_text(
      app, "--data", options.data, "DIR|FILE",
      "with --recipe, in place of --vocab-size: a text, whose vocabulary is counted, as lm train reads it")
      ->excludes(size);
  add_list(app, "--set", words->sets, "KEY=VALUE", "a setting that overrides the recipe's, can be repeated");
  app.add_flag("--operators", options.operators, "list the pointwise operators");
  app.add_flag("--keys", options.keys,
               "list the settings of language models, with defaults; with --recipe, its settings, and the "
               "defaults that it changes");
  app.add_flag("--cells", options.cells, "list the recurrent cells and their settings");
  app.add_flag("--markdown", options.markdown, "print --cells as a table for a page on GitHub");
  app.add_flag("--json", options.json, "print one JSON object");
  return {&app, [words] {
            words->options.settings = parse_settings(words->sets);
            check_asked(words->options);
            return info(words->options);
          }};
}

}  // namespace rondo
