// Published figures.
#include "lm/program/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lm/program/finetune.h"
#include "lm/program/recipe.h"
#include "lm/program/recipes.h"

namespace rondo {

Keys keys_of(PublishedFigures& it) {
  return {
      {"valid", &it.trained.valid, at_least(0), "", "the paper's figure on valid.txt; 0: none"},
      {"test", &it.trained.test, at_least(0), "", "the paper's figure on test.txt; 0: none"},
      {"unit", choice(it.unit), {}, "", "the unit of the published figures; bits and nats are per symbol"},
      {"finetuned_valid", &it.finetuned.valid, at_least(0), "",
       "the same as published.valid, of the model that `lm finetune` makes"},
      {"finetuned_test", &it.finetuned.test, at_least(0), "", "the same on test.txt"},
      {"dynamic_valid", &it.dynamic.valid, at_least(0), "",
       "the same as published.valid, with dynamic evaluation of the paper's best model"},
      {"dynamic_test", &it.dynamic.test, at_least(0), "", "the same on test.txt"},
      {"cache_valid", &it.cache.valid, at_least(0), "",
       "the same as published.valid, with a neural cache over the paper's best model"},
      {"cache_test", &it.cache.test, at_least(0), "", "the same on test.txt"},
      {"vocabulary", &it.vocabulary, at_least(0), "symbols",
       "number of types in the paper's text; for a text with another number, no published figure "
       "is shown; 0: not known"},
      {"test_symbols", &it.test_symbols, at_least(0), "symbols",
       "the same, for the length of the paper's test text"},
  };
}

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
  Json json{{"valid", nullptr}, {"test", nullptr}};
  if (it.valid > 0) json["valid"] = it.valid;
  if (it.test > 0) json["test"] = it.test;
  return json;
}

/// Whether the trained model depends on a key. Seeds, the division of a batch, names of files, and what is
/// evaluated, kept and printed during the training do not count.
bool makes_the_model(const std::string& key) {
  RunOptions watching;
  const Keys others = section("train", keys_of(watching));
  const auto is_it = [&](const auto& it) { return it.name == key; };
  if (!key.starts_with("model.") && !key.starts_with("train.") && !key.starts_with("data.")) return false;
  return std::none_of(others.begin(), others.end(), is_it) && key != "train.seed" &&
         key != "train.micro_batch" && key != "train.eval_streams" && key != "train.final_streams" &&
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

bool may_be_the_papers(const PublishedFigures& published, std::int64_t types,
                       std::optional<std::int64_t> test_symbols_scored) {
  if (published.vocabulary != 0 && published.vocabulary != types) return false;
  if (published.test_symbols == 0 || !test_symbols_scored) return true;
  const std::int64_t context_only = published.test_symbols - *test_symbols_scored;  // the first symbol
  return context_only == 0 || context_only == 1;
}

std::vector<std::string> changed_keys(const Recipe& recipe, bool finetuned) {
  const auto& built_in = built_in_recipes();
  if (std::none_of(built_in.begin(), built_in.end(), [&](const auto& it) { return it.name == recipe.name; }))
    return {};
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

}  // namespace rondo
