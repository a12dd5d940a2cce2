// Names of other programs: PyTorch's and its examples', awd-lstm-lm, fairseq, Joey NMT, llama.cpp.
#include "lm/program/other_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "lm/program/nearest.h"
#include "lm/program/recipe.h"

namespace rondo {
namespace {

struct OtherName {
  std::string_view other, here;
};
constexpr OtherName other_settings[] = {
    {"lr", "train.learning_rate"},
    {"lr", "dynamic.learning_rate"},
    {"batch_size", "train.batch"},
    {"bptt", "train.length"},
    {"seq_len", "train.length"},
    {"optim", "train.optimizer"},
    {"wdecay", "train.weight_decay"},
    {"clip_norm", "train.clip"},
    {"emsize", "model.embedding"},
    {"embedding_size", "model.embedding"},
    {"nhid", "model.hidden"},
    {"hidden_size", "model.hidden"},
    {"nlayers", "model.layers"},
    {"num_layers", "model.layers"},
    {"tie_weights", "model.tied"},
    {"log_interval", "train.log_every"},
    {"patience", "train.early_stopping"},
    {"lr_scheduler", "train.schedule"},
};
constexpr OtherName other_options[] = {
    {"gpu", "--device cuda"},    {"cuda", "--device cuda"}, {"fp16", "--precision bf16"},
    {"save", "--out"},           {"output", "--out"},       {"model", "--recipe"},
    {"max-epochs", "--epochs"},  {"max-steps", "--steps"},  {"beam-size", "--beam"},
    {"batch-size", "--streams"}, {"max-tokens", "-n"},      {"length", "-n"},
    {"p", "--prompt"},           {"t", "--temperature"},    {"ppl", "--totals"},
};
constexpr OtherName other_commands[] = {
    {"evaluate", "eval"},     {"test", "eval"},
    {"perplexity", "eval"},   {"resume", "train --out RUN --resume"},
    {"convert", "export"},    {"list", "table"},
    {"version", "--version"},
};
constexpr OtherName other_values[] = {
    {"gpu", "cuda"},  {"fp16", "bf16"},      {"dev", "valid"},
    {"val", "valid"}, {"ppl", "perplexity"}, {"chars", "characters"},
};

/// Whether the names that others use have this one, and `fits` holds for its name here.
template <class Fits>
std::string name_here(std::string_view other, std::span<const OtherName> names, Fits fits) {
  for (const OtherName& it : names)
    if (it.other == other && fits(it.here)) return std::string(it.here);
  return "";
}

bool is_among(std::string_view name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string setting_called(std::string_view name) {
  std::string word(name.substr(name.find_last_of('.') + 1));
  const std::string_view section = name.substr(0, name.size() - word.size());
  std::replace(word.begin(), word.end(), '-', '_');
  return name_here(word, other_settings, [&](std::string_view key) { return key.starts_with(section); });
}

std::string setting_ending_in(std::string_view word) {
  std::string ending = fmt::format(".{}", word);
  std::replace(ending.begin(), ending.end(), '-', '_');
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    if (key.name.ends_with(ending) && !key.name.starts_with("published.")) return key.name;
  return "";
}

std::string command_called(std::string_view name) {
  return name_here(name, other_commands, [](std::string_view) { return true; });
}

std::string option_called(std::string_view name, const std::vector<std::string>& flags) {
  return name_here(name, other_options,
                   [&](std::string_view here) { return is_among(here.substr(0, here.find(' ')), flags); });
}

std::string instead_of_value(const std::string& value, const std::vector<std::string>& choices) {
  const std::string here =
      name_here(value, other_values, [&](std::string_view choice) { return is_among(choice, choices); });
  return here.empty() ? did_you_mean(value, choices, "") : fmt::format("; here it is '{}'", here);
}

}  // namespace rondo
