// `lm info`: the modules and shapes of a model of a run or a recipe, and the lists of operators, settings and
// cells. Of a recipe and a text a few steps are trained, for the time; memory is measured on a device without
// any (lm/training/memory.h).
#include <fmt/ranges.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/pointwise.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/log.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/tasks/translation.h"
#include "lm/training/memory.h"
#include "nn/cells/catalogue.h"
#include "tensor/allocator.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

struct InfoOptions {
  // One of these five is given; of --keys, perhaps a recipe as well.
  std::string run;
  std::string recipe;
  bool operators = false;
  bool keys = false;
  bool cells = false;

  std::vector<Setting> settings;     // they override the recipe's
  std::int64_t vocabulary_size = 0;  // with recipe; 0: the recipe's data.max_size
  std::string data;                  // with recipe, of language models: its vocabulary is counted
  bool json = false;
};

using Json = nlohmann::ordered_json;

struct Subject {
  RunConfig config;               // of a recipe without made_by
  Sizes sizes;                    // Task::sizes()
  std::int64_t vocabulary_size;   // of what is predicted, or read where nothing is
  std::unique_ptr<Module> model;  // without memory
  double seconds = 0;             // that a training would take; 0: there is no data
};

/// Counts the vocabulary that `lm train` would make of this text.
std::int64_t vocabulary_size_of(const Recipe& recipe, const std::string& data) {
  recipe.task->open({.path = data, .pipes = Pipes::accepted, .progress = reading_progress(stderr)});
  recipe.task->make_vocabularies();
  return recipe.task->vocabulary().size();
}

/// Trains for a few seconds on the data that the recipe's task has opened, and estimates the time of all
/// updates.
double seconds_of_training(const Recipe& recipe) {
  constexpr double enough = 3;  // seconds
  Task& task = *recipe.task;
  task.prepare();
  const auto seed = static_cast<std::uint64_t>(recipe.trainer.seed);
  const auto make_model = [&](Device device) { return task.make_model(task.sizes(), seed, device); };
  const auto make_objective = [&](Module& model) { return task.make_objective(model, seed); };
  measure_training_memory(Device::cpu, recipe.trainer, make_model, make_objective,
                          available_memory().value_or(std::numeric_limits<std::int64_t>::max()));
  const std::unique_ptr<Module> model = make_model(Device::cpu);
  const std::unique_ptr<Objective> objective = make_objective(*model);
  Trainer trainer(*objective, recipe.trainer);
  while (trainer.seconds() < enough && !trainer.done() && trainer.next_batch()) trainer.step();
  const double rate = trainer.metrics().scored_per_second();
  return trainer.seconds() + seconds_left(trainer, rate);
}

Subject subject_of(const InfoOptions& options) {
  if (!options.run.empty()) {
    OpenRun run = open_run_without_weights(options.run);
    const Task& task = run.task();
    return {std::move(run.config), task.sizes(), task.vocabulary().size(), std::move(run.model)};
  }
  Recipe recipe = resolve_recipe(options.recipe, options.settings);
  const bool models_language = recipe.language_modelling();
  check_input(options.data.empty() || models_language,
              "info --data: counts the vocabulary of language models, and {} is for {}; give --vocab-size N",
              options.recipe, recipe.task_name);
  const std::int64_t size = !options.data.empty()         ? vocabulary_size_of(recipe, options.data)
                            : options.vocabulary_size > 0 ? options.vocabulary_size
                                                          : recipe.task->largest_vocabulary();
  check_input(size > 0, "info --recipe {}: vocabulary size unknown; give --vocab-size N{}", options.recipe,
              models_language ? ", or --data DIR" : "");
  const Sizes sizes = recipe.task->assumed_sizes(size);
  fit_width(recipe, sizes);
  double seconds = 0;
  try {
    if (!options.data.empty()) seconds = seconds_of_training(recipe);
  } catch (const InputError& error) {  // the rest is known all the same
    print_note(fmt::format("this cannot be trained, so there is no time of training: {}", error.what()));
  }
  return {{recipe, {}}, sizes, size, recipe.task->make_layout(sizes), seconds};
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
  const Recipe& recipe = subject.config.recipe;
  Task& task = *recipe.task;
  task.assume(subject.sizes);
  return measure_training_memory(
      Device::cpu, recipe.trainer, [&](Device meta) { return task.make_model(subject.sizes, 1, meta); },
      [&](Module& model) { return task.make_objective(model, 1); });
}

/// Counts the numbers that are saved and not trained, such as statistics of batch normalisation.
std::int64_t buffered(const Module& model) {
  std::int64_t count = 0;
  for (const Buffer* buffer : model.buffers()) count += buffer->shape().size();
  return count;
}

/// Returns what is known of a model. The terminal shows the same, in an order for readers.
Json json_of(const Subject& subject, const std::string& run) {
  const TrainingMemory memory = memory_of(subject);  // first, for it may refuse the recipe
  const auto& [config, sizes, vocabulary_size, layout, seconds] = subject;
  const auto& [recipe, made_by] = config;
  const Module& model = *layout;
  const bool is_changed = !changed_keys(recipe, made_by.is_finetuned()).empty();
  Json json;
  if (!run.empty()) {
    json["run"] = run;
    json["made"] = fmt::format("{} by version {} on {} in {} with {}",
                               made_by.sha256.empty() ? "imported from " + made_by.imported_from
                                                      : "of " + name_of_text(made_by.data),
                               made_by.version, name_of(made_by.device), name_of(made_by.precision),
                               counted_text(made_by.threads, "threads"));
  }
  json.update({{"recipe", recipe.name},
               {"changed", is_changed},
               {"description", recipe.description},
               {"paper", recipe.paper},
               {"model", recipe.task->model_text()},
               {"vocabulary", recipe.task->sizes_text(sizes)},
               {"unit", name_of(recipe.task->tokenization().unit)},
               {"cell", recipe.task->cell()},
               {"seed", recipe.trainer.seed},
               {"vocabulary_size", vocabulary_size}});
  if (dynamic_cast<const TranslatingTask*>(&*recipe.task)) json["source_vocabulary_size"] = sizes.front();
  json["parameters"] = model.parameter_count();
  for (const auto& [module, count] : counts_by_module(model)) json["modules"][module] = count;
  for (const Segment& segment : model.segments())
    json["tensors"].push_back(
        {{"name", segment.name}, {"shape", extents(segment.shape)}, {"aliases", segment.aliases}});
  if (seconds > 0)
    json.update({{"training_seconds", seconds},
                 {"time", fmt::format("about {} on {} to train, without evaluations", duration_text(seconds),
                                      counted_text(threads(), "threads"))}});
  json.update({{"statistics", buffered(model)},
               {"training_bytes", memory.training},
               {"evaluation_bytes", memory.evaluation},
               {"memory", fmt::format("about {} in tensors to train, {} to evaluate",
                                      bytes_text(memory.training), bytes_text(memory.evaluation))},
               {"device", "cpu"},
               {"threads", threads()},
               {"fp32", kernels_text(Precision::fp32)},
               {"bf16", kernels_text(Precision::bf16)},
               {"int8", kernels_text(Precision::int8)}});
  return json;
}

/// Prints a line for each value, then the shapes by module.
void print_model(const Json& json) {
  for (const auto& [name, value] : json.items())
    if (value != "" && !value.is_structured())  // empty: such as the paper of a recipe of one's own
      print_line(fmt::format("{:<11} {}", name, value.is_string() ? value.get<std::string>() : value.dump()));
  for (const auto& [module, count] : json.at("modules").items()) {
    fmt::print("\n{:<42} {:>14} parameters\n", module, count.get<std::int64_t>());
    for (const Json& tensor : json.at("tensors"))
      if (const std::string name = tensor.at("name"); module_of(name) == module)
        fmt::print("  {:<40} {}{}\n", name, tensor.at("shape").dump(),
                   tensor.at("aliases").empty() ? "" : "  also " + tensor.at("aliases").dump());
  }
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
  for (const std::string& name : cell_names()) {
    CellSettings settings;
    std::vector<std::string> keys;
    for (const Key& key : keys_of(settings, name)) keys.push_back(key.name);
    if (options.json)
      list.push_back({{"name", name}, {"description", description_of(name)}, {"settings", keys}});
    else
      fmt::print("{:<16} {}{}{}\n", name, description_of(name),
                 keys.empty() ? "" : "\n                   model.", fmt::join(keys, ", model."));
  }
  if (options.json) print_json(Json{{"cells", list}});
}

/// The settings of a recipe; without one, those of language modelling.
void print_keys(const InfoOptions& options) {
  Recipe recipe, standard;
  if (!options.recipe.empty()) recipe = resolve_recipe(options.recipe, options.settings);
  check_input(recipe.fitted_parameters == 0,
              "info --keys: {}=fit:{} needs the number of symbols: leave out --keys", width_key,
              recipe.fitted_parameters);
  standard.set_task(recipe.task_name);
  for (const std::string& part : recipe.task->parts()) standard.task->add_part(part);
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

/// Prints on stdout. Returns 0.
int info(const InfoOptions& options) {
  if (options.operators) {
    print_operators(options.json);
  } else if (options.keys) {
    print_keys(options);
  } else if (options.cells) {
    print_cells(options);
  } else {
    check_input(!options.run.empty() || !options.recipe.empty(),
                "info: give one of: a run, --recipe NAME, --operators, --keys, --cells");
    const Json json = json_of(subject_of(options), options.run);
    if (options.json)
      print_json(json);
    else
      print_model(json);
  }
  return 0;
}

}  // namespace

Command add_info(CommandLine& line) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App& app = add_command(
      line, "info",
      "show layers, shapes, parameters and memory of a run or a recipe; or list operators, settings, cells",
      "lm info --recipe zaremba-small --vocab-size 10000");
  CLI::Option* run =
      app.add_option("run", options->run, "a run folder (default: none; then one of the options below)")
          ->type_name("RUN");
  CLI::Option* recipe =
      add_text(app, "--recipe", options->recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file")
          ->excludes(run);
  CLI::Option* size = add_value(app, "--vocab-size", options->vocabulary_size, "N", integer(1, 2000000000),
                                "size of the vocabulary, with --recipe (default: the recipe's data.max_size)")
                          ->needs(recipe);
  add_text(
      app, "--data", options->data, "DIR|FILE",
      "with --recipe, in place of --vocab-size: a text, whose vocabulary is counted, as lm train reads it; a "
      "few steps on it say how long a training takes")
      ->needs(recipe)
      ->excludes(size);
  add_settings(app, options->settings, "a setting that overrides the recipe's, can be repeated")
      ->needs(recipe);
  CLI::Option* keys =
      app.add_flag("--keys", options->keys,
                   "list the settings of language models, with defaults; with --recipe, its settings, and "
                   "the defaults that it changes")
          ->excludes(run);
  CLI::Option* operators = app.add_flag("--operators", options->operators, "list the pointwise operators");
  CLI::Option* cells = app.add_flag("--cells", options->cells, "list the recurrent cells and their settings")
                           ->excludes(operators);
  for (CLI::Option* list : {operators, cells}) list->excludes(run)->excludes(recipe)->excludes(keys);
  app.add_flag("--json", options->json, "print one JSON object");
  return {&app, [options] { return info(*options); }};
}

}  // namespace rondo
