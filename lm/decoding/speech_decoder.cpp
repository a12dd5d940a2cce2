// From what a recogniser says of each step to a transcript.
#include "lm/decoding/speech_decoder.h"

#include <algorithm>

#include "lm/decoding/beam_search.h"

namespace rondo {

Keys keys_of(SpeechDecodingOptions& it) {
  return {
      {"beam", &it.beam, any_beam(), "prefixes", "that a search keeps after each step; 1: the best path"},
      {"ngram", &it.ngram, any_text(), "", "an n-gram model, an ARPA file; empty: none"},
      {"ngram_unit", choice(it.ngram_unit), "what the symbols of decoding.ngram are"},
      {"ngram_weight", &it.ngram_weight, at_least(0), "", "weight of the n-gram model's log p"},
      {"insertion_bonus",
       &it.insertion_bonus,
       {},
       "nats",
       "for each symbol of the n-gram model, which favours short transcripts"},
  };
}

void check_options(const SpeechDecodingOptions& options) {
  check_limits_of(options);
  check_input(
      options.ngram.empty() || options.beam > 1,
      "ngram = \"{}\": an n-gram model takes part in a search: set decoding.beam above 1, as in 32, or "
      "decoding.ngram to \"\"",
      options.ngram);
}

SpeechDecoder::SpeechDecoder(const SpeechDecodingOptions& options, const Vocabulary& vocabulary)
    : options_(options) {
  check_options(options);
  if (options.ngram.empty()) return;
  std::vector<std::string> labels;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) labels.push_back(vocabulary.symbol(id));
  const bool words = options.ngram_unit == NgramUnit::words;
  ngram_.emplace(read_arpa(options.ngram, {.unit = words ? Unit::words : Unit::characters}));
  const auto& [symbols, model, is_closed] = *ngram_;
  const auto is_known = [&](const std::string& label) { return ngram_->vocabulary.id(label).has_value(); };
  check_input(!is_closed || !words, "{}: the language model of words has no {}", options.ngram,
              unknown_symbol);
  check_input(!is_closed || std::all_of(labels.begin() + 1, labels.end(), is_known),
              "{}: the language model has no {}, and does not know all labels", options.ngram,
              unknown_symbol);
  scorer_.emplace(model, symbols, options.ngram_unit, std::move(labels),
                  LabelScoreOptions{.weight = options.ngram_weight, .bonus = options.insertion_bonus});
}

LabelHypothesis SpeechDecoder::operator()(const Tensor& log_p) const {
  if (options_.beam == 1) return best_path(log_p);
  const std::vector<LabelHypothesis> found =
      prefix_search(log_p, options_.beam, scorer_ ? &*scorer_ : nullptr);
  return found.empty() ? LabelHypothesis{} : found.front();
}

std::string text_of(const SpeechDecodingOptions& options) {
  const std::string search = search_text(options.beam);
  if (options.ngram.empty()) return search;
  return fmt::format("{} with {}, weight {}, bonus {}", search, options.ngram, options.ngram_weight,
                     options.insertion_bonus);
}

}  // namespace rondo
