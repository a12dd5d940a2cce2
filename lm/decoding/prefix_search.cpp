// Decoding of CTC models; see lm/decoding/prefix_search.h.
#include "lm/decoding/prefix_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "autograd/ctc_loss.h"
#include "lm/decoding/beam_search.h"
#include "tensor/error.h"

namespace rondo {

using detail::index_of;

namespace {

constexpr int32_t no_label = ctc_blank;
constexpr double log_zero = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b)).
double log_of_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger == log_zero ? log_zero : larger + std::log1p(std::exp(-std::abs(a - b)));
}

class PrefixSearch {
 public:
  PrefixSearch(int64_t symbols, int64_t beam, const LabelScorer* scorer)
      : symbols_(symbols), beam_(beam), scorer_(scorer) {
    prefixes_.push_back({-1, no_label, scorer_ ? scorer_->start() : LabelScorer::State{}, 0});
    live_.push_back(live(0, 0, log_zero));
  }

  /// One more frame.
  void advance(const real* log_y) {
    find_candidates(log_y);
    const auto better = [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : std::pair(a.from, a.label) < std::pair(b.from, b.label);
    };
    if (std::ssize(candidates_) > beam_) {
      std::nth_element(candidates_.begin(), candidates_.begin() + beam_, candidates_.end(), better);
      candidates_.resize(index_of(beam_));
    }
    std::ranges::sort(candidates_, better);
    std::vector<Live> next;
    for (const Candidate& it : candidates_) {
      Live& from = live_[index_of(it.from)];
      if (it.label == no_label)
        next.push_back({from.prefix, it.log_blank, it.log_label, from.added_by});
      else
        next.push_back(live(longer(from.prefix, it), it.log_blank, it.log_label));
    }
    live_ = std::move(next);
  }

  std::vector<LabelHypothesis> best() const {
    std::vector<LabelHypothesis> found;
    for (const Live& it : live_) {
      const Prefix& prefix = prefixes_[index_of(it.prefix)];
      const double end = scorer_ ? scorer_->score_end(prefix.state) : 0;
      found.push_back({labels_of(it.prefix), it.log_p(), it.log_p() + prefix.added + end});
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.score > b.score; });
    return found;
  }

 private:
  /// The labels of the parent and one more; the same labels are always the same prefix.
  struct Prefix {
    int64_t parent;
    int32_t label;
    LabelScorer::State state;
    double added;  // by the scorer
  };
  /// A prefix that is kept, with its paths up to the current frame: those that end in a blank, and those
  /// that end in its last label.
  struct Live {
    int64_t prefix;
    double log_blank, log_label;
    std::vector<double> added_by;  // what the scorer adds for each next label; empty without one
    double log_p() const { return log_of_sum(log_blank, log_label); }
  };
  /// A live prefix one frame later, as it is (no_label) or with one more label.
  struct Candidate {
    int64_t from;
    int32_t label;
    double log_blank, log_label, added, score;
  };

  Live live(int64_t prefix, double log_blank, double log_label) const {
    Live result{prefix, log_blank, log_label, {}};
    if (scorer_) {
      result.added_by.resize(index_of(symbols_));
      scorer_->add_scores(prefixes_[index_of(prefix)].state, result.added_by);
    }
    return result;
  }

  void find_candidates(const real* log_y) {
    candidates_.clear();
    extended_.assign(live_.size() * index_of(symbols_), false);
    place_of_.resize(prefixes_.size(), -1);
    for (size_t i = 0; i < live_.size(); ++i) place_of_[index_of(live_[i].prefix)] = static_cast<int64_t>(i);
    for (int64_t i = 0; i < std::ssize(live_); ++i) add_unchanged(i, log_y);
    for (int64_t i = 0; i < std::ssize(live_); ++i)
      for (int32_t label = 1; label < symbols_; ++label)
        if (!extended_[index_of(i * symbols_ + label)]) add_longer(i, label, log_y);
    for (const Live& it : live_) place_of_[index_of(it.prefix)] = -1;
  }

  /// The paths that leave a live prefix as it is, and those that make it from one that is shorter by a
  /// label, if that is live as well.
  void add_unchanged(int64_t i, const real* log_y) {
    const Live& it = live_[index_of(i)];
    const Prefix& prefix = prefixes_[index_of(it.prefix)];
    double log_label = log_zero;
    if (prefix.label != no_label) {
      log_label = it.log_label + log_y[prefix.label];
      const int64_t shorter = place_of_[index_of(prefix.parent)];
      if (shorter >= 0) {
        log_label = log_of_sum(log_label, log_p_longer(shorter, prefix.label, log_y));
        extended_[index_of(shorter * symbols_ + prefix.label)] = true;
      }
    }
    const double log_blank = it.log_p() + log_y[ctc_blank];
    candidates_.push_back(
        {i, no_label, log_blank, log_label, prefix.added, log_of_sum(log_blank, log_label) + prefix.added});
  }

  void add_longer(int64_t i, int32_t label, const real* log_y) {
    const double log_p = log_p_longer(i, label, log_y);
    if (log_p == log_zero) return;
    const Live& it = live_[index_of(i)];
    const double added = prefixes_[index_of(it.prefix)].added + (scorer_ ? it.added_by[index_of(label)] : 0);
    if (added > log_zero) candidates_.push_back({i, label, log_zero, log_p, added, log_p + added});
  }

  /// Of the paths that add a label in this frame: the last one begins again only after a blank.
  double log_p_longer(int64_t i, int32_t label, const real* log_y) const {
    const Live& it = live_[index_of(i)];
    const bool again = prefixes_[index_of(it.prefix)].label == label;
    return (again ? it.log_blank : it.log_p()) + log_y[label];
  }

  int64_t longer(int64_t parent, const Candidate& by) {
    const auto [found, added] = children_.try_emplace(parent * symbols_ + by.label, std::ssize(prefixes_));
    if (added) {
      const LabelScorer::State& state = prefixes_[index_of(parent)].state;
      prefixes_.push_back(
          {parent, by.label, scorer_ ? scorer_->after(state, by.label) : LabelScorer::State{}, by.added});
    }
    return found->second;
  }

  std::vector<int32_t> labels_of(int64_t prefix) const {
    std::vector<int32_t> labels;
    for (; prefix > 0; prefix = prefixes_[index_of(prefix)].parent)
      labels.push_back(prefixes_[index_of(prefix)].label);
    std::ranges::reverse(labels);
    return labels;
  }

  int64_t symbols_, beam_;
  const LabelScorer* scorer_;
  std::vector<Prefix> prefixes_;                   // a tree, whose root is without labels
  std::unordered_map<int64_t, int64_t> children_;  // by parent and label
  std::vector<Live> live_;                         // best first
  std::vector<Candidate> candidates_;
  std::vector<int64_t> place_of_;  // by prefix: where it is in live_; -1: nowhere
  std::vector<bool> extended_;     // by live prefix and label: the longer one is live as well
};

/// The log probabilities of a frame.
const real* checked_frame(const char* name, const Tensor& log_p, int64_t t) {
  check(log_p.device() == Device::cpu && log_p.columns() > 0,
        "[{}] probabilities [frames, symbols] on the CPU were expected, got {} on {}", name, log_p.shape(),
        name_of(log_p.device()));
  const real* log_y = log_p.data() + t * log_p.row_stride();
  const bool numbers = std::none_of(log_y, log_y + log_p.columns(), [](real v) { return std::isnan(v); });
  check(numbers, "[{}] a probability of frame {} is not a number", name, t);
  return log_y;
}

}  // namespace

LabelHypothesis best_path(const Tensor& log_p) {
  LabelHypothesis found;
  int64_t before = no_label;
  for (int64_t t = 0; t < log_p.rows(); ++t) {
    const real* log_y = checked_frame("best path", log_p, t);
    const int64_t best = std::max_element(log_y, log_y + log_p.columns()) - log_y;
    if (best != no_label && best != before) found.labels.push_back(static_cast<int32_t>(best));
    found.log_p += log_y[best];
    before = best;
  }
  found.score = found.log_p;
  return found;
}

std::vector<LabelHypothesis> prefix_search(const Tensor& log_p, int64_t beam, const LabelScorer* scorer) {
  check(beam > 0, "[prefix search] a beam of 1 or more was expected: {}", beam);
  PrefixSearch search(log_p.columns(), beam, scorer);
  for (int64_t t = 0; t < log_p.rows(); ++t) search.advance(checked_frame("prefix search", log_p, t));
  return search.best();
}

// --- Language model ---
// Scores of labels by an n-gram model.

LabelScorer::LabelScorer(const NgramModel& model, const Vocabulary& vocabulary,
                         std::vector<std::string> labels, const SpeechDecodingOptions& options)
    : model_(model),
      vocabulary_(vocabulary),
      labels_(std::move(labels)),
      options_(options),
      line_end_(vocabulary.line_end_id()),
      unknown_(vocabulary.unknown_id().value()) {
  check(model.symbols() == vocabulary.size(), "[label scorer] a model of {} symbols and {} names",
        model.symbols(), vocabulary.size());
  if (options.ngram_unit == NgramUnit::words) {
    space_ = static_cast<std::size_t>(std::ranges::find(labels_, " ") - labels_.begin());
    check_input(space_ > 0 && space_ < labels_.size(),
                "a language model of words needs a label that is a space");
  } else {
    symbols_.resize(labels_.size());
    for (std::size_t k = 1; k < labels_.size(); ++k)
      symbols_[k] = vocabulary.id(labels_[k]).value_or(unknown_);
  }
}

LabelScorer::Scored LabelScorer::scored(const NgramModel::State& context,
                                        std::optional<std::int32_t> symbol) const {
  if (!symbol) return {0, context};
  const NgramModel::Step step = model_.step(context, *symbol);
  return {options_.ngram_weight * step.log_probability + options_.insertion_bonus, step.next};
}

std::optional<std::int32_t> LabelScorer::word_of(const State& state) const {
  if (state.word.empty()) return std::nullopt;
  return vocabulary_.id(state.word).value_or(unknown_);
}

std::optional<std::int32_t> LabelScorer::symbol_ended_by(const State& state, std::size_t label) const {
  if (space_ == 0) return symbols_.at(label);
  return label == space_ ? word_of(state) : std::nullopt;
}

void LabelScorer::add_scores(const State& state, std::span<double> of_labels) const {
  check(of_labels.size() == labels_.size(), "[label scorer] {} labels were expected: {}", labels_.size(),
        of_labels.size());
  for (std::size_t k = 1; k < labels_.size(); ++k)
    of_labels[k] = scored(state.context, symbol_ended_by(state, k)).score;
}

LabelScorer::State LabelScorer::after(const State& state, std::int32_t label) const {
  const auto k = static_cast<std::size_t>(label);
  const bool goes_on = space_ > 0 && k != space_;
  return {scored(state.context, symbol_ended_by(state, k)).next, goes_on ? state.word + labels_.at(k) : ""};
}

double LabelScorer::score_end(const State& state) const {
  const Scored last = scored(state.context, word_of(state));
  return last.score +
         (line_end_ ? options_.ngram_weight * model_.step(last.next, *line_end_).log_probability : 0);
}

// --- Decoder ---

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
  scorer_.emplace(model, symbols, std::move(labels), options);
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
