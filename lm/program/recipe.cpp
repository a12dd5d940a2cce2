// The sections of a recipe: see recipe.h.
#include "lm/program/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/text/text.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/settings/remedies.h"
#include "lm/settings/toml.h"
#include "tensor/error.h"

/// The recipes of lm/program/recipes: name, text, name, text, ..., each ended by a zero, and an empty name
/// (embedded_files.cpp).
extern "C" const char rondo_recipes[];

namespace rondo {

// --- Published ---

namespace {

using Json = nlohmann::ordered_json;
using Figures = PublishedFigures::Splits;

bool has_any(const Figures& it) { return it.valid > 0 || it.test > 0; }

/// The figures of finetuning and of adaptive methods that the paper has.
std::vector<std::pair<std::string, Figures>> further_figures(const PublishedFigures& published) {
  std::vector<std::pair<std::string, Figures>> all{
      {"finetuned", published.finetuned}, {"dynamic", published.dynamic}, {"cache", published.cache}};
  std::erase_if(all, [](const auto& it) { return !has_any(it.second); });
  return all;
}

Json json_of(const Figures& it) {
  const auto figure = [](double value) { return value > 0 ? Json(value) : Json(); };
  return {{"valid", figure(it.valid)}, {"test", figure(it.test)}};
}

/// Whether the trained model depends on a key. Seeds, the division of a batch, names of files, and what is
/// evaluated, kept and printed during the training do not count.
bool makes_the_model(const std::string& key) {
  RunOptions watching;
  const Keys others = section("train", keys_of(watching));
  if (!key.starts_with("model.") && !key.starts_with("train.") && !key.starts_with("data.")) return false;
  return !has_key(others, key) && key != "train.seed" && key != "train.micro_batch" &&
         key != "train.eval_streams" && key != "train.eval_warm_up" && key != "train.final_streams" &&
         key != "train.sentences_every" && key != "train.sentence_sets" && key != "data.memory" &&
         !key.ends_with("files");
}

std::string figure_or_dash(double figure) { return figure > 0 ? fmt::format("{}", figure) : "-"; }

}  // namespace

double published_figure(const PublishedFigures& published, bool finetuned, const std::string& split,
                        bool dynamic, bool cache) {
  if (dynamic && cache) return 0;
  const bool adapts = dynamic || cache;
  if (adapts && !finetuned && has_any(published.finetuned)) return 0;
  const Figures& figures = dynamic ? published.dynamic : cache ? published.cache : published.trained;
  return split == "valid" ? figures.valid : split == "test" ? figures.test : 0;
}

bool is_decided_by_finetuning(const std::string& key) {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  const Keys whole = section("train", joined({keys_of(optimizer), keys_of(schedule)}));
  return (has_key(whole, key) && key != "train.weight_decay") || key == "train.epochs" ||
         key == "train.averaging" || key == "train.early_stopping" || key == "train.non_monotonic_stopping";
}

PublishedUnit usual_unit(const Task& task) {
  if (!task.predicts_text()) return PublishedUnit::nats;
  return task.tokenization().unit == Unit::words ? PublishedUnit::perplexity : PublishedUnit::bits;
}

std::vector<std::string> changed_keys(const Recipe& recipe, bool finetuned) {
  const auto& built_in = built_in_recipes();
  if (std::ranges::none_of(built_in, [&](const auto& it) { return it.name == recipe.name; })) return {};
  Recipe now = recipe, published = load_recipe(recipe.name);
  const std::vector<Key> keys = keys_of(now), published_keys = keys_of(published);
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = keys[i].name;
    const bool counts =
        finetuned ? (makes_the_model(key) && !is_decided_by_finetuning(key)) || key.starts_with("finetune.")
                  : makes_the_model(key);
    if (counts && value_text(keys[i]) != value_text(published_keys[i])) changed.push_back(key);
  }
  return changed;
}

Json published_json(const PublishedFigures& published) {
  const auto further = further_figures(published);
  Json json = json_of(published.trained);
  json["unit"] = nullptr;
  if (has_any(published.trained) || !further.empty()) json["unit"] = name_of(published.unit);
  for (const auto& [name, figures] : further) json[name] = json_of(figures);
  return json;
}

std::string published_text(const PublishedFigures& published) {
  const auto further = further_figures(published);
  if (!has_any(published.trained) && further.empty()) return "";
  std::string text =
      fmt::format("{}: valid {}, test {}", name_of(published.unit), figure_or_dash(published.trained.valid),
                  figure_or_dash(published.trained.test));
  for (const auto& [name, figures] : further)
    text += fmt::format("; {} {}, {}", name, figure_or_dash(figures.valid), figure_or_dash(figures.test));
  return text;
}

// --- Recipe ---

namespace {

constexpr std::string_view part_section = "tasks.";

Keys title_keys(Recipe& recipe) {
  std::vector<std::string> tasks;
  for (const RegisteredTask& it : registered_tasks()) tasks.push_back(it.name);
  return section(
      "recipe", {{"name", &recipe.name, "the name of the recipe; runs are called runs/NAME-N"},
                 {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
                 {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
                 {"task", &recipe.task_name, one_of(tasks), "", "what is trained; other keys depend on it"}});
}

}  // namespace

Keys keys_of(Recipe& recipe) {
  Sections task = recipe.task->sections();
  const bool models_language = recipe.language_modelling();
  return joined({
      title_keys(recipe),
      models_language ? section("published", keys_of(recipe.published)) : Keys(),
      section("data", std::move(task.data)),
      section("model", std::move(task.model)),
      section("train", joined({keys_of(recipe.trainer), std::move(task.train), keys_of(recipe.run)})),
      models_language
          ? joined({section("finetune", keys_of(recipe.finetune)), section("report", keys_of(recipe.report))})
          : Keys(),
      std::move(task.others),
  });
}

void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others) {
  read_toml(text, where, title_keys(recipe), OtherKeys::ignored);
  recipe.set_task(recipe.task_name);
  std::string known;  // the section of the key before
  for (const TomlKey& it : parse_toml(text, where)) {
    const std::string section = it.name.substr(0, it.name.rfind('.')), place = place_text(where, it.position);
    if (!it.name.starts_with(part_section) || section == known) continue;
    known = section;
    check_input(section.starts_with(part_section), "{}: each task has a section of its own: [tasks.NAME]",
                place);
    check_input(recipe.task->add_part(section.substr(part_section.size())),
                "{}: tasks are for recipe.task = \"multi_task\", and here it is \"{}\"", place,
                recipe.task_name);
  }
  // Run folders of earlier versions have these keys. Only values that change nothing are accepted.
  bool tensorboard = false;
  std::int64_t entities = 0;
  double coverage_penalty = 0;
  std::string context_integration = "add";
  const Keys former = {{"train.tensorboard", &tensorboard},
                       {"data.entities", &entities},
                       {"decoding.coverage_penalty", &coverage_penalty, between(0, 0)},
                       {"model.context_integration", &context_integration, one_of({"add"})}};
  read_toml(text, where, joined({keys_of(recipe), others, former}));
  // In what they wrote, the comment of a rate says that 0 stands for one that is not given.
  for (const auto& [comment, rate] :
       {std::pair(" 0: the optimizer's own default", &recipe.trainer.optimizer.learning_rate),
        {" 0: train.learning_rate", &recipe.finetune.learning_rate}})
    if (*rate == 0 && text.find(comment) != std::string::npos) rate->reset();
}

void validate(const Recipe& recipe, const std::string& where) {
  check_section(where, "train", recipe.trainer);
  recipe.task->check(where);
}

// --- Recipes ---

namespace {

/// Reads a recipe's text; `where` names it in errors. [made_by] is allowed, so that a run's config.toml is a
/// recipe too.
Recipe read_recipe(const std::string& text, const std::string& where) {
  Recipe recipe;
  Provenance ignored;
  read_recipe(recipe, text, where, section("made_by", keys_of(ignored)));
  return recipe;
}

}  // namespace

std::vector<BuiltInRecipe> built_in_recipes() {
  std::vector<BuiltInRecipe> recipes;
  for (const char* at = rondo_recipes; *at != '\0';) {
    const std::string_view name = at, text = at + name.size() + 1;
    recipes.push_back({name, text});
    at = text.data() + text.size() + 1;
  }
  return recipes;
}

Recipe load_recipe(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const auto& [name, text] : built_in_recipes()) {
    if (name == name_or_file) return read_recipe(std::string(text), fmt::format("recipe {}", name));
    names.emplace_back(name);
  }
  const std::filesystem::path path = name_or_file;
  const bool is_file = path.has_parent_path() || path.extension() == ".toml";
  check_input(is_file,
              "no recipe named '{}'{} (to name a file, write a path with a '/', or one that ends in .toml)",
              name_or_file,
              did_you_mean(name_or_file, names, fmt::format("; `{} recipes` lists them", this_program())));
  Recipe recipe = read_recipe(read_file(path, Pipes::accepted, max_toml_bytes), name_or_file);
  if (recipe.name.empty()) recipe.name = path.stem().string();
  return recipe;
}

void let_given_epochs_end(Recipe& recipe, const std::vector<Setting>& settings) {
  const auto sets = [&](const std::string& key) {
    return std::ranges::any_of(settings, [&](const Setting& it) { return it.key == key; });
  };
  if (sets("train.epochs") && !sets("train.steps")) recipe.trainer.steps = 0;
}

const Key& set_in(Recipe& recipe, const Keys& keys, const Setting& setting) {
  constexpr std::string_view fit = "fit:";
  const auto key = std::ranges::find(keys, width_key, &Key::name);
  const bool is_fitted = setting.key == width_key && setting.value.starts_with(fit);
  if (setting.key == width_key) recipe.fitted_parameters = 0;
  if (!is_fitted || key == keys.end()) return apply_setting(setting, keys);
  std::string_view number = std::string_view(setting.value).substr(fit.size());
  const std::size_t unit = number.empty() ? number.npos : std::string_view("kMG").find(number.back());
  if (unit != number.npos) number.remove_suffix(1);
  const double wanted = parse_number(number).value_or(0) *
                        (unit == number.npos ? 1 : std::pow(1e3, static_cast<double>(unit + 1)));
  check_input(wanted >= 1 && wanted < 1e12,
              "{}: expected a number of parameters, perhaps with k, M or G, as in fit:2.1M", setting.where);
  recipe.fitted_parameters = std::llround(wanted);
  return *key;
}

void fit_width(Recipe& recipe, const Sizes& sizes) {
  const std::int64_t wanted = recipe.fitted_parameters;
  if (wanted == 0) return;
  constexpr std::int64_t widest = 1 << 16, longest_gap = 1 << 11;
  const Keys keys = keys_of(recipe);
  std::string refusal;
  /// Sets a width and returns its number of parameters; 0 if another setting forbids it, such as model.heads.
  const auto count_at = [&](std::int64_t hidden) -> std::int64_t {
    try {
      apply_setting({"", width_key, fmt::format("{}", hidden)}, keys);
      validate(recipe, recipe.name);
      return recipe.task->make_layout(sizes)->parameter_count();
    } catch (const InputError& error) {
      refusal = error.what();
      return 0;
    }
  };
  struct Fit {
    std::int64_t hidden = 0, parameters = 0;
  } fewer, more;
  // Possible widths have gaps, so they are tried from below: in steps that are too small to reach the number,
  // which grows at most with the cube of the width (of a tensor RNN), and near it one by one.
  std::int64_t gap = 0;
  for (std::int64_t hidden = 1; hidden <= widest && gap < longest_gap && more.hidden == 0;) {
    const std::int64_t parameters = count_at(hidden);
    gap = parameters > 0 ? 0 : gap + 1;
    if (parameters > 0) (parameters < wanted ? fewer : more) = {hidden, parameters};
    const double growth =
        parameters > 0 ? std::cbrt(static_cast<double>(wanted) / static_cast<double>(parameters)) : 0;
    const double next = std::min(0.9 * growth * static_cast<double>(hidden), static_cast<double>(widest));
    hidden = std::max(hidden + 1, static_cast<std::int64_t>(next));
  }
  const auto check_is_there = [&](const Fit& needed, const char* end, const Fit& last) {
    check_input(needed.hidden > 0, "{}=fit:{}: the {} possible width, {}, has {} parameters", width_key,
                wanted, end, last.hidden, last.parameters);
  };
  check_input(fewer.hidden > 0 || more.hidden > 0, "{}", refusal);
  if (more.parameters != wanted) check_is_there(fewer, "narrowest", more);
  check_is_there(more, "widest", fewer);
  count_at(wanted - fewer.parameters < more.parameters - wanted ? fewer.hidden : more.hidden);  // sets it
}

Recipe resolve_recipe(const std::string& name_or_file, const std::vector<Setting>& settings) {
  return resolve_recipe(load_recipe(name_or_file), name_or_file, settings);
}

Recipe resolve_recipe(Recipe recipe, const std::string& name_or_file, const std::vector<Setting>& settings) {
  const Keys keys = keys_of(recipe);
  for (const Setting& setting : settings) {
    check_input(setting.key != "recipe.task", "{}: the task is the recipe's; choose another recipe",
                setting.where);
    set_in(recipe, keys, setting);
  }
  let_given_epochs_end(recipe, settings);
  check_input(!recipe.name.empty() && recipe.name.find_first_of("/`") == std::string::npos &&
                  recipe.name == printable(recipe.name),  // it may come from a file's name
              "{}: recipe.name = '{}': expected a name in UTF-8 without '/', '`' and control characters",
              name_or_file, recipe.name);
  for (const NamedFile& it : recipe.task->named_files())
    if (!it.path->empty()) *it.path = absolute_path(*it.path).string();
  validate(recipe, name_or_file);
  return recipe;
}

}  // namespace rondo
