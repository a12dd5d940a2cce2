// Warnings that protect a figure.
#include "lm/program/figure_warnings.h"

#include <fmt/format.h>

#include <cmath>

#include "data/long_text.h"
#include "data/symbols.h"

namespace rondo {

void print_warning(const std::string& warning) {
  if (!warning.empty()) fmt::print(stderr, "lm: warning: {}\n", warning);
}

std::string share_text(const UnknownShare& it) {
  return fmt::format("{:.2f} % of the {} symbols of {} are unknown to the vocabulary, or <unk> in the text",
                     it.percent(), it.symbols, it.text);
}

std::string warning_of_unknowns(const UnknownShare& it, bool unknown_is_trained) {
  // Percent. The loss of an untrained row is some 10 nats: of one symbol in 1000 it adds 0.01 to the mean.
  constexpr double large = 10, large_untrained = 0.1;
  constexpr double large_read = 25;  // a limit of the vocabulary leaves out 10 to 15 of a classifier's text
  if (it.is_predicted && !unknown_is_trained && it.percent() >= large_untrained)
    return fmt::format(
        "{}, and {} was never trained: the figures are unreliable; a model trained with --set "
        "data.min_count=2 "
        "learns it",
        share_text(it), unknown_symbol);
  if (it.percent() <= (it.is_predicted ? large : large_read)) return "";
  return fmt::format(
      "{}, and are {}. Is the text in the language of the training text, and written like it (case, "
      "tokenization)? A model of data.unit=pieces has no unknown words",
      share_text(it),
      it.is_predicted
          ? "predicted as <unk> alone: the figures do not compare with those of other vocabularies"
          : "all read as the same symbol");
}

bool is_worse_than_uniform(double nats, std::int64_t vocabulary_size) {
  constexpr double margin = 0.1;  // nats: a new model is about as bad as that
  return !(nats <= std::log(static_cast<double>(vocabulary_size)) + margin);
}

std::string warning_of_cost(double nats, std::int64_t vocabulary_size, const std::string& reason) {
  if (!is_worse_than_uniform(nats, vocabulary_size)) return "";
  return fmt::format("giving all {} symbols the same probability costs {:.2f} nats; this costs more: {}",
                     vocabulary_size, std::log(static_cast<double>(vocabulary_size)), reason);
}

std::string reason_of_cost(double nats, std::int64_t vocabulary_size, const Reading& reading,
                           const std::string& evaluate) {
  // A state that is lost is wrong about each symbol, but only weights without bounds cost as much as this.
  constexpr double diverged = 3;  // times the nats of equal probabilities
  if (!(nats <= diverged * std::log(static_cast<double>(vocabulary_size))))
    return "the training has diverged; " + advice_after_divergence("train");
  constexpr std::int64_t many = 64;
  const std::string unlearnt =
      "the model has not learnt a text like this: too few steps, or a learning rate that is too high";
  if (!reading.carries_state() || reading.streams >= many) return unlearnt;
  return fmt::format(
      "{0}; or reading so long a text without a new start has driven the state to values from which it does "
      "not recover, as happens early in a training: if {1} --streams {2} finds much less, train with --set "
      "train.eval_streams={2} --set train.final_streams={2}",
      unlearnt, evaluate, many);
}

std::string advice_after_divergence(const std::string& section) {
  return fmt::format(
      "try a lower {}.learning_rate or stronger clipping (train.clip) in a new run (another --out): --resume "
      "changes no settings",
      section);
}

namespace {
bool are_same(const Text& one, const Text& other) {
  if (one.source && other.source) return one.source->key() == other.source->key();
  return !one.source && !other.source && one.content == other.content;
}
}  // namespace

std::string warning_of_same_texts(const CorpusText& texts) {
  const auto warning = [](const Text& one, const Text& other, std::string_view consequence) {
    return fmt::format("{} is the same text as {}: {}", one.name, other.name, consequence);
  };
  constexpr std::string_view known = "figures on it say nothing about text that the model has not seen";
  if (are_same(texts.valid, texts.train)) return warning(texts.valid, texts.train, known);
  if (!texts.test) return "";
  if (are_same(*texts.test, texts.train)) return warning(*texts.test, texts.train, known);
  if (are_same(*texts.test, texts.valid))
    return warning(*texts.test, texts.valid, "the model is chosen by it, so that figures on it are too good");
  return "";
}

}  // namespace rondo
