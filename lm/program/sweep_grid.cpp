// The runs of a sweep.
#include "lm/program/sweep_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "data/text.h"
#include "lm/program/recipes.h"

namespace rondo {
namespace {

constexpr std::size_t most_runs = 10'000, longest_file_name = 255;

/// The parts of a text between separators, without spaces around them. A separator within brackets or quotes
/// is not one; these are at the beginning of a part, after a `joiner` (0: none), or within brackets.
std::vector<std::string> split_values(const std::string& text, char separator, char joiner = 0) {
  std::vector<std::string> parts(1);
  char quote = 0;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char it = text[i];
    std::string& part = parts.back();
    if (quote == 0 && !in_brackets && it == separator) {
      parts.emplace_back();
      continue;
    }
    if (part.empty() && it == ' ') continue;
    const bool at_begin = part.empty() || in_brackets || part.back() == joiner;
    part += it;
    if (quote != 0 && it == '\\' && quote == '"' && i + 1 < text.size())
      part += text[++i];
    else if (quote != 0)
      quote = it == quote ? '\0' : quote;
    else if (at_begin && (it == '"' || it == '\''))
      quote = it;
    else if (at_begin && it == '[')
      in_brackets = true;
    else if (in_brackets && it == ']')
      in_brackets = false;
  }
  for (std::string& part : parts) part.erase(part.find_last_not_of(' ') + 1);
  return parts;
}

/// As a part of a file's name that stands for no other value.
std::string for_file_name(const std::string& value) {
  std::string name;
  for (const char it : value) {
    const bool plain = (it >= '0' && it <= '9') || (it >= 'a' && it <= 'z') || (it >= 'A' && it <= 'Z') ||
                       std::string_view("._+,-").find(it) != std::string_view::npos;
    if (plain)
      name += it;
    else if (it != ' ')
      name += fmt::format("%{:02X}", static_cast<unsigned char>(it));
  }
  return name;
}

/// One of the choices of swept settings.
struct Choice {
  std::vector<Setting> settings;
  std::vector<std::string> values;  // as shown_value()
};

const Key& key_named(const std::string& name, const Keys& keys) {
  return *std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
}

/// Checks keys and values, each on its own, by setting them in `recipe`.
std::vector<Choice> choices_of(const SweptSettings& swept, Recipe& recipe) {
  std::vector<Choice> choices;
  for (const std::vector<std::string>& values : swept.values) {
    Choice choice;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::string& key = swept.keys[k];
      choice.settings.push_back({fmt::format("--set {}={}", key, values[k]), key, values[k]});
      const Keys keys = keys_of(recipe);
      apply_setting(choice.settings.back(), keys);
      choice.values.push_back(shown_value(key_named(key, keys)));
    }
    const bool is_list = std::any_of(swept.keys.begin(), swept.keys.end(), [&](const std::string& key) {
      return value_text(key_named(key, keys_of(recipe))).starts_with('[');
    });
    for (const Choice& other : choices)
      check_input(other.values != choice.values, "{}: {} is given twice{}", swept.where,
                  excerpt(fmt::format("{}", fmt::join(choice.values, ":"))),
                  is_list ? "; a list is one value in [ ], as in model.hidden=[128,128]" : "");
    choices.push_back(std::move(choice));
  }
  return choices;
}

void check_keys_differ(const std::vector<SweptSettings>& swept) {
  std::map<std::string, std::string> where;
  for (const SweptSettings& it : swept)
    for (const std::string& key : it.keys) {
      const auto [other, is_new] = where.emplace(key, it.where);
      check_input(is_new, "{}: {} has values already, by {}: give all of them in one list", it.where,
                  excerpt(key), other->second);
    }
}

}  // namespace

SweptSettings parse_swept(const std::string& text) {
  const Setting whole = parse_setting(text);
  SweptSettings swept{whole.where, split_values(whole.key, ':'), {}};
  check_input(!whole.value.empty(), "{}: no value is given; as in --set model.hidden=800,900", whole.where);
  for (const std::string& choice : split_values(whole.value, ',', swept.keys.size() > 1 ? ':' : '\0')) {
    check_input(!choice.empty(),
                "{}: there is a comma too many; an empty text is written \"\", a text with a comma in quotes",
                whole.where);
    swept.values.push_back(swept.keys.size() == 1 ? std::vector{choice} : split_values(choice, ':'));
    check_input(swept.values.back().size() == swept.keys.size(),
                "{}: {} are {} keys, and '{}' has {} value{}; as in --set "
                "model.hidden:model.dropout=650:0.5,1500:0.65",
                whole.where, excerpt(whole.key), swept.keys.size(), excerpt(choice),
                swept.values.back().size(), swept.values.back().size() == 1 ? "" : "s");
  }
  return swept;
}

std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds) {
  check_keys_differ(swept);
  Recipe scratch = load_recipe(recipe);
  std::vector<std::vector<Choice>> axes;
  std::vector<std::string> keys;  // that are named in the folders
  std::size_t count = static_cast<std::size_t>(seeds.value_or(1));
  bool seeds_are_swept = false;
  for (const SweptSettings& it : swept) {
    axes.push_back(choices_of(it, scratch));
    count *= std::min(axes.back().size(), most_runs);
    check_input(count <= most_runs, "these are more than {} runs: leave out some values or seeds", most_runs);
    if (axes.back().size() == 1) continue;
    keys.insert(keys.end(), it.keys.begin(), it.keys.end());
    seeds_are_swept |= std::find(it.keys.begin(), it.keys.end(), "train.seed") != it.keys.end();
    check_input(!seeds_are_swept || !seeds,
                "{}: --seeds numbers the seeds from train.seed on: give one of them", it.where);
  }
  std::vector<SweepRun> runs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t seed = i % static_cast<std::size_t>(seeds.value_or(1));
    std::size_t rest = i / static_cast<std::size_t>(seeds.value_or(1));
    std::vector<const Choice*> chosen(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].size())
      chosen[a] = &axes[a][rest % axes[a].size()];
    SweepRun run;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      run.settings.insert(run.settings.end(), chosen[a]->settings.begin(), chosen[a]->settings.end());
      for (std::size_t k = 0; k < chosen[a]->values.size() && axes[a].size() > 1; ++k)
        run.name +=
            fmt::format("{}={}_", shown_name(swept[a].keys[k], keys), for_file_name(chosen[a]->values[k]));
    }
    try {
      run.recipe = resolve_recipe(recipe, run.settings);
    } catch (const InputError& error) {
      const std::string combination = run.name.substr(0, run.name.size() - !run.name.empty());
      const bool several_cells = std::any_of(keys.begin(), keys.end(),
                                             [](const std::string& key) { return key.ends_with(".cell"); });
      throw InputError(fmt::format(
          "{}{}{}{}", combination, combination.empty() ? "" : ": ", error.what(),
          several_cells ? "; a setting that only some cells have varies with the cell, as in --set "
                          "model.cell:model.forget_bias=lstm:1,gru:0"
                        : ""));
    }
    run.seed = run.recipe.trainer.seed += static_cast<std::int64_t>(seed);
    if (seeds_are_swept)
      run.name.pop_back();
    else
      run.name += fmt::format("seed={}", run.seed);
    check_input(run.name.size() <= longest_file_name,
                "{}...: the name of the run's folder has {} bytes, and may have {}: shorten the values",
                run.name.substr(0, 40), run.name.size(), longest_file_name);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string shown_value(const Key& key) {
  std::string text = value_text(key);
  const bool is_list = text.starts_with('[') && text.find(',') == std::string::npos && text.size() > 2;
  if (is_list || text.starts_with('"')) text = text.substr(1, text.size() - 2);
  return text;
}

std::string shown_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

}  // namespace rondo
