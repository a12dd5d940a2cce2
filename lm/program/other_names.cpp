// Names of other programs: PyTorch's and its examples', awd-lstm-lm, fairseq, Joey NMT, llama.cpp.
#include "lm/program/other_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lm/program/nearest.h"
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
    OtherSetting{"log_interval", "train.log_every"},
    OtherSetting{"logging_steps", "train.log_every"},
    OtherSetting{"eval_interval", "train.eval_every"},
    OtherSetting{"eval_steps", "train.eval_every"},
    OtherSetting{"lr_scheduler", "train.schedule"},
    OtherSetting{"scheduler", "train.schedule"},
    OtherSetting{"cache.size", "cache.window"},
};

struct OtherOption {
  std::string_view command;      // empty: each that has the option
  std::string_view other, name;  // the name may go on with a value
};
constexpr std::array other_options{
    OtherOption{"", "gpu", "device cuda"},
    OtherOption{"", "cuda", "device cuda"},
    OtherOption{"", "cpu", "device cpu"},
    OtherOption{"", "bf16", "precision bf16"},
    OtherOption{"", "fp16", "precision bf16"},
    OtherOption{"", "half", "precision bf16"},
    OtherOption{"", "amp", "precision bf16"},
    OtherOption{"ngram", "o", "order"},
    OtherOption{"", "o", "out"},
    OtherOption{"", "output", "out"},
    OtherOption{"", "output-dir", "out"},
    OtherOption{"", "save", "out"},
    OtherOption{"", "save-dir", "out"},
    OtherOption{"", "model", "recipe"},
    OtherOption{"", "arch", "recipe"},
    OtherOption{"", "config", "recipe"},
    OtherOption{"", "corpus", "data"},
    OtherOption{"train", "train", "data DIR, the folder of train.txt and valid.txt"},
    OtherOption{"train", "valid", "data DIR, the folder of train.txt and valid.txt"},
    OtherOption{"train", "vocab", "set data.vocabulary_file=FILE, of a language model"},
    OtherOption{"train", "patience", "set train.early_stopping=N, or for the schedule train.patience=N"},
    OtherOption{"sweep", "seed", "seeds"},
    OtherOption{"eval", "batch", "streams"},
    OtherOption{"eval", "lr", "dynamic --set dynamic.learning_rate=X"},
    OtherOption{"eval", "learning-rate", "dynamic --set dynamic.learning_rate=X"},
    OtherOption{"ngram", "n", "order"},
    OtherOption{"score", "bits", "totals, with nats; lm eval has bits"},
    OtherOption{"score", "perplexity", "totals"},
    OtherOption{"score", "ppl", "totals"},
    OtherOption{"bleu", "lc", "lowercase"},
    OtherOption{"generate", "words", "n"},
    OtherOption{"generate", "tokens", "n"},
    OtherOption{"generate", "greedy", "top-k 1"},
    OtherOption{"eval", "batch-size", "streams"},
    OtherOption{"score", "normalize", "per-length"},
    OtherOption{"score", "length-norm", "per-length"},
    OtherOption{"table", "format", "csv, --markdown or --json"},
    OtherOption{"ngram", "format", "json"},
    OtherOption{"plot", "png", "svg FOLDER"},
    OtherOption{"generate", "p", "prompt"},
    OtherOption{"generate", "f", "prompt-file"},
    OtherOption{"generate", "t", "temperature"},
    OtherOption{"generate", "s", "seed"},
    OtherOption{"generate", "temp", "temperature"},
    OtherOption{"generate", "n-predict", "n"},
    OtherOption{"generate", "length", "n"},
    OtherOption{"generate", "max-tokens", "n"},
    OtherOption{"generate", "max-new-tokens", "n"},
    OtherOption{"generate", "num-samples", "samples"},
    OtherOption{"generate", "file", "prompt-file"},
    OtherOption{"generate", "repeat-penalty", "repetition-penalty"},
    OtherOption{"generate", "reverse-prompt", "stop"},
    OtherOption{"generate", "max-length", "n"},
    OtherOption{"generate", "start", "prompt"},
    OtherOption{"translate", "beam-size", "beam"},
    OtherOption{"translate", "num-beams", "beam"},
    OtherOption{"train", "max-update", "steps"},
    OtherOption{"train", "max-steps", "steps"},
    OtherOption{"train", "max-epoch", "epochs"},
    OtherOption{"train", "max-epochs", "epochs"},
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
    OtherCommand{"tune", "eval --tune"},
    OtherCommand{"fit", "train"},
    OtherCommand{"run", "train"},
    OtherCommand{"resume", "train --out RUN --resume"},
    OtherCommand{"infer", "generate, or score for probabilities"},
    OtherCommand{"predict", "generate, or score for probabilities"},
    OtherCommand{"interpolate", "score --with"},
    OtherCommand{"convert", "export"},
    OtherCommand{"list", "table"},
    OtherCommand{"ls", "table"},
    OtherCommand{"compare", "table"},
    OtherCommand{"show", "info"},
    OtherCommand{"cells", "info --cells"},
    OtherCommand{"keys", "info --keys"},
    OtherCommand{"settings", "info --keys"},
    OtherCommand{"visualize", "plot"},
    OtherCommand{"query", "ngram"},
    OtherCommand{"lmplz", "ngram"},
    OtherCommand{"version", "--version"},
    OtherCommand{"-v", "--version"},
    OtherCommand{"-V", "--version"},
};

struct OtherValue {
  std::string_view other, name;
};
constexpr std::array other_values{
    OtherValue{"gpu", "cuda"},         OtherValue{"fp16", "bf16"},     OtherValue{"half", "bf16"},
    OtherValue{"dev", "valid"},        OtherValue{"val", "valid"},     OtherValue{"validation", "valid"},
    OtherValue{"ppl", "perplexity"},   OtherValue{"torch", "pytorch"}, OtherValue{"freq", "frequency"},
    OtherValue{"chars", "characters"}, OtherValue{"byte", "bytes"},    OtherValue{"steps", "step"},
    OtherValue{"epochs", "epoch"},     OtherValue{"bpe", "pieces"},    OtherValue{"subwords", "pieces"},
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
  std::string_view elsewhere;  // the last part of a key of another section
  for (const OtherSetting& it : other_settings) {
    if (it.other == name) return std::string(it.key);
    if (it.other != other) continue;
    if (it.key.starts_with(section)) return std::string(it.key);
    elsewhere = it.key.substr(it.key.find('.') + 1);
  }
  if (elsewhere.empty()) return "";
  const std::string here = fmt::format("{}{}", section, elsewhere);
  Recipe recipe;
  const Keys keys = keys_of(recipe);
  const bool is_known =
      std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == here; });
  return is_known ? here : "";
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

std::string option_called(std::string_view command, std::string_view name,
                          const std::vector<std::string>& flags) {
  const auto has = [&](std::string_view option) {
    return std::find(flags.begin(), flags.end(), fmt::format("--{}", option.substr(0, option.find(' ')))) !=
           flags.end();
  };
  for (const OtherOption& it : other_options)
    if (it.other == name && (it.command.empty() ? has(it.name) : it.command == command))
      return std::string(it.name);
  return "";
}

std::string instead_of_value(const std::string& value, const std::vector<std::string>& choices) {
  for (const OtherValue& it : other_values)
    if (it.other == value && std::find(choices.begin(), choices.end(), it.name) != choices.end())
      return fmt::format("; here it is '{}'", it.name);
  return did_you_mean(value, choices, "");
}

}  // namespace rondo
