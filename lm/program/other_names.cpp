// Names of other programs: PyTorch's and its examples', awd-lstm-lm, fairseq, Joey NMT, llama.cpp.
#include "lm/program/other_names.h"

#include <algorithm>
#include <array>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

struct OtherSetting {
  std::string_view other, key;
};
constexpr std::array other_settings{
    OtherSetting{"lr", "train.learning_rate"},
    OtherSetting{"rate", "train.learning_rate"},
    OtherSetting{"learning_rate", "train.learning_rate"},
    OtherSetting{"batch_size", "train.batch"},
    OtherSetting{"bsz", "train.batch"},
    OtherSetting{"bptt", "train.length"},
    OtherSetting{"seq_len", "train.length"},
    OtherSetting{"sequence_length", "train.length"},
    OtherSetting{"tokens_per_sample", "train.length"},
    OtherSetting{"optim", "train.optimizer"},
    OtherSetting{"clip_norm", "train.clip"},
    OtherSetting{"max_norm", "train.clip"},
    OtherSetting{"wdecay", "train.weight_decay"},
    OtherSetting{"max_epoch", "train.epochs"},
    OtherSetting{"max_epochs", "train.epochs"},
    OtherSetting{"patience", "train.early_stopping"},
    OtherSetting{"max_update", "train.steps"},
    OtherSetting{"max_steps", "train.steps"},
    OtherSetting{"emsize", "model.embedding"},
    OtherSetting{"embedding_size", "model.embedding"},
    OtherSetting{"embedding_dim", "model.embedding"},
    OtherSetting{"nhid", "model.hidden"},
    OtherSetting{"hidden_size", "model.hidden"},
    OtherSetting{"nlayers", "model.layers"},
    OtherSetting{"num_layers", "model.layers"},
    OtherSetting{"tie_weights", "model.tied"},
    OtherSetting{"tied_weights", "model.tied"},
};

struct OtherOption {
  std::string_view command, other, name;
};
constexpr std::array other_options{
    OtherOption{"generate", "temp", "temperature"},
    OtherOption{"generate", "n-predict", "n"},
    OtherOption{"generate", "length", "n"},
    OtherOption{"generate", "max-tokens", "n"},
    OtherOption{"generate", "max-new-tokens", "n"},
    OtherOption{"generate", "num-samples", "samples"},
    OtherOption{"generate", "file", "prompt-file"},
    OtherOption{"generate", "repeat-penalty", "repetition-penalty"},
    OtherOption{"generate", "reverse-prompt", "stop"},
    OtherOption{"train", "max-update", "steps"},
    OtherOption{"train", "max-steps", "steps"},
    OtherOption{"train", "max-epoch", "epochs"},
    OtherOption{"train", "max-epochs", "epochs"},
    OtherOption{"train", "save-dir", "out"},
    OtherOption{"train", "restore-file", "init-from"},
    OtherOption{"train", "finetune-from-model", "init-from"},
};

struct OtherCommand {
  std::string_view other, name;
};
constexpr std::array other_commands{
    OtherCommand{"evaluate", "eval"},
    OtherCommand{"test", "eval"},
    OtherCommand{"ppl", "eval"},
    OtherCommand{"perplexity", "eval"},
};

std::string with_underscores(std::string_view name) {
  std::string other(name);
  std::replace(other.begin(), other.end(), '-', '_');
  return other;
}

}  // namespace

std::string setting_called(std::string_view name) {
  const std::string_view last = name.substr(name.find_last_of('.') + 1);
  const std::string_view section = name.substr(0, name.size() - last.size());
  const std::string other = with_underscores(last);
  for (const OtherSetting& it : other_settings)
    if (it.other == other && it.key.starts_with(section)) return std::string(it.key);
  return "";
}

std::string setting_ending_in(std::string_view word) {
  const std::string ending = "." + with_underscores(word);
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    if (key.name.ends_with(ending) && !key.name.starts_with("published.")) return key.name;
  return "";
}

std::string command_called(std::string_view name) {
  for (const OtherCommand& it : other_commands)
    if (it.other == name) return std::string(it.name);
  return "";
}

std::string option_called(std::string_view command, std::string_view name) {
  for (const OtherOption& it : other_options)
    if (it.command == command && it.other == name) return std::string(it.name);
  return "";
}

}  // namespace rondo
