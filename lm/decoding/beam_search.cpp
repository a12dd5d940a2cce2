// Beam search; see lm/decoding/beam_search.h.
#include "lm/decoding/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "tensor/error.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

/// A hypothesis and its next symbol.
struct Candidate {
  double log_p;  // of the hypothesis with that symbol
  int64_t hypothesis;
  int32_t symbol;
};

bool better(const Candidate& a, const Candidate& b) {
  return std::tie(b.log_p, a.hypothesis, a.symbol) < std::tie(a.log_p, b.hypothesis, b.symbol);
}

/// A hypothesis that can grow.
struct Live {
  int64_t node;
  double log_p;
  int64_t before;  // the one that it continues: the place of that in the previous step
  int32_t symbol;  // the last one
};

/// A row of numbers for each hypothesis of a sentence: those of hypothesis k begin at data[k * row_stride].
/// Null data: there are none.
struct SentenceRows {
  const real* data = nullptr;
  int64_t row_stride = 0, columns = 0;
};

/// Replaces `best` by the `count` best candidates, or all if there are fewer, best first; equal ones in the
/// order of hypothesis and symbol: without sorting the vocabulary, for most symbols cost one comparison, with
/// the worst of the best so far. Candidates of probability 0 are left out, and those of the symbol `banned`.
/// If a probability is not a number, it is the only candidate. Takes no memory if `best` has a capacity of
/// `count`.
void find_best(const SentenceRows& next, std::span<const Live> live, int64_t count,
               std::optional<int32_t> banned, std::vector<Candidate>& best) {
  best.clear();  // a heap, the worst of them first
  // Candidates come in the order of hypothesis and symbol, so that one equal to the worst is no better.
  double worst = -std::numeric_limits<double>::infinity();
  for (int64_t k = 0; k < std::ssize(live); ++k) {
    const real* row = next.data + k * next.row_stride;
    const double before = live[static_cast<size_t>(k)].log_p;
    for (int64_t v = 0; v < next.columns; ++v) {
      const double sum = before + static_cast<double>(row[v]);
      if (sum <= worst || v == banned) continue;
      const Candidate candidate{sum, k, static_cast<int32_t>(v)};
      if (std::isnan(sum)) return best.assign(1, candidate);
      if (std::ssize(best) == count) {
        std::pop_heap(best.begin(), best.end(), better);
        best.pop_back();
      }
      best.push_back(candidate);
      std::push_heap(best.begin(), best.end(), better);
      if (std::ssize(best) == count) worst = best.front().log_p;
    }
  }
  std::sort_heap(best.begin(), best.end(), better);
}

constexpr int64_t parallel_symbols = 1 << 16;  // fewer are not worth waking other threads for

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// select(), unless the new grid is the old one, which has `old_rows` rows.
void select_rows(Predictor& predictor, const std::vector<int64_t>& rows,
                 const std::vector<int64_t>& sentences, int64_t old_rows) {
  bool same = std::ssize(sentences) == predictor.sentences() && std::ssize(rows) == old_rows;
  for (int64_t i = 0; same && i < old_rows; ++i) same = rows[static_cast<size_t>(i)] == i;
  if (!same) predictor.select(rows, sentences);
}

/// The search for one sentence.
class SentenceSearch {
 public:
  SentenceSearch(const BeamOptions& options, int32_t end) : options_(options), end_(end) {
    live_.push_back({root, 0, 0, end});
  }

  const std::vector<Live>& live() const { return live_; }

  /// One more symbol. `best`: find_best() of the live hypotheses, 2 * beam candidates: at most `beam` of them
  /// end, so that `beam` can live on.
  void advance(const std::vector<Candidate>& best, const SentenceRows& attention) {
    const std::vector<Live> before = std::exchange(live_, {});
    ++length_;
    for (int64_t rank = 0; rank < std::ssize(best) && std::ssize(live_) < options_.beam; ++rank) {
      const Candidate& it = best[at(rank)];
      const bool ends = it.symbol == end_;
      if (ends && rank >= options_.beam) continue;
      const int64_t node = add_node(before[at(it.hypothesis)].node, it, attention);
      if (ends)
        finished_.push_back({node, it.log_p, score(it.log_p), true});
      else
        live_.push_back({node, it.log_p, it.hypothesis, it.symbol});
    }
    sort_by_score(finished_);
  }

  bool done() const {
    if (live_.empty() || length_ == options_.max_length) return true;
    if (std::ssize(finished_) < options_.n_best) return false;
    const double to_beat = finished_[at(options_.n_best - 1)].score;
    if (live_.front().log_p / length_penalty(options_.max_length) <= to_beat) return true;
    return std::ssize(finished_) >= options_.beam &&
           std::ranges::all_of(live_, [&](const Live& it) { return score(it.log_p) <= to_beat; });
  }

  std::vector<Hypothesis> n_best() const {
    std::vector<Ranked> cut_off;
    for (const Live& it : live_) cut_off.push_back({it.node, it.log_p, score(it.log_p), false});
    sort_by_score(cut_off);
    std::vector<Hypothesis> result;
    for (const std::vector<Ranked>* list : {&finished_, &std::as_const(cut_off)})
      for (const Ranked& it : *list)
        if (std::ssize(result) < options_.n_best) result.push_back(hypothesis(it));
    return result;
  }

 private:
  static constexpr int64_t root = -1;  // the hypothesis without symbols

  /// The symbols of all hypotheses are a tree. A node is the hypothesis that consists of the symbols from the
  /// root to it.
  struct Node {
    int64_t parent;
    int32_t symbol;
    std::vector<float> attention;
  };
  struct Ranked {
    int64_t node;
    double log_p, score;
    bool finished;
  };

  static void sort_by_score(std::vector<Ranked>& list) {
    std::ranges::stable_sort(list, std::greater(), &Ranked::score);
  }

  int64_t add_node(int64_t parent, const Candidate& candidate, const SentenceRows& attention) {
    Node node{parent, candidate.symbol, {}};
    if (const real* row = attention.data) {
      row += candidate.hypothesis * attention.row_stride;
      node.attention.assign(row, row + attention.columns);
    }
    nodes_.push_back(std::move(node));
    return std::ssize(nodes_) - 1;
  }

  double length_penalty(int64_t length) const {
    return std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }

  /// Of a hypothesis that got its last symbol in this step.
  double score(double log_p) const { return log_p / length_penalty(length_); }

  Hypothesis hypothesis(const Ranked& of) const {
    Hypothesis result{.ids = {}, .log_p = of.log_p, .score = of.score, .finished = of.finished};
    for (int64_t node = of.node; node != root; node = nodes_[at(node)].parent) {
      result.ids.push_back(nodes_[at(node)].symbol);
      if (!nodes_[at(node)].attention.empty()) result.attention.push_back(nodes_[at(node)].attention);
    }
    std::ranges::reverse(result.ids);
    std::ranges::reverse(result.attention);
    if (of.finished) result.ids.pop_back();
    return result;
  }

  const BeamOptions& options_;
  int32_t end_;
  int64_t length_ = 0;  // symbols of live hypotheses
  std::vector<Node> nodes_;
  std::vector<Live> live_;        // the most probable first
  std::vector<Ranked> finished_;  // the best first
};

/// The search for a batch of sentences.
class BatchSearch {
 public:
  BatchSearch(Predictor& predictor, const SearchSymbols& symbols, const BeamOptions& options)
      : predictor_(predictor),
        options_(options),
        banned_(options.allow_unknown ? std::nullopt : symbols.unknown),
        searches_(at(predictor.sentences()), SentenceSearch(options, symbols.end)),
        columns_(searches_.size()),
        ids_(searches_.size(), symbols.end),
        source_lengths_(predictor.source_lengths()) {
    std::iota(columns_.begin(), columns_.end(), 0);
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!columns_.empty()) {
      step(predictor_.next(ids_));
      arrange_grid();
    }
    std::vector<std::vector<Hypothesis>> results;
    for (const SentenceSearch& search : searches_) results.push_back(search.n_best());
    return results;
  }

 private:
  SentenceSearch& search(int64_t column) { return searches_[at(columns_[at(column)])]; }

  void step(const Predictor::Prediction& prediction) {
    const int64_t B = std::ssize(columns_);
    const Tensor log_p = prediction.log_p.to(Device::cpu);
    check(log_p.rows() == std::ssize(ids_) && log_p.columns() > 0,
          "[beam search] {} hypotheses need as many rows of log p, got {}", ids_.size(), log_p.shape());
    // Here, because the body of a parallel loop must not throw.
    const int64_t count = std::min(2 * options_.beam, log_p.size() / B);
    best_.resize(at(B));
    for (std::vector<Candidate>& best : best_) best.reserve(at(count));
    parallel_for(B, log_p.size() >= parallel_symbols, [&](int64_t b) {
      const SentenceRows next{log_p.data() + b * log_p.row_stride(), B * log_p.row_stride(), log_p.columns()};
      find_best(next, search(b).live(), count, banned_, best_[at(b)]);
    });

    const bool attends = options_.attention && prediction.attention.defined();
    const Tensor attention = attends ? prediction.attention.to(Device::cpu) : Tensor();
    for (int64_t b = 0; b < B; ++b) {
      const std::vector<Candidate>& best = best_[at(b)];
      check(best.empty() || !std::isnan(best.front().log_p),
            "[beam search] the probability of symbol {} is not a number", best.front().symbol);
      SentenceRows rows;
      if (attends)
        rows = {attention.data() + b * attention.row_stride(), B * attention.row_stride(),
                source_lengths_.empty() ? attention.columns() : source_lengths_[at(columns_[at(b)])]};
      search(b).advance(best, rows);
    }
  }

  /// The grid of the next step: the live hypotheses of the sentences that are not done.
  void arrange_grid() {
    const int64_t B = std::ssize(columns_);
    std::vector<int64_t> kept, sentences, rows;
    int64_t most = 0;
    for (int64_t b = 0; b < B; ++b) {
      if (search(b).done()) continue;
      kept.push_back(b);
      sentences.push_back(columns_[at(b)]);
      most = std::max(most, std::ssize(search(b).live()));
    }
    const int64_t old_rows = std::ssize(ids_);
    ids_.clear();
    for (int64_t k = 0; k < most; ++k)
      for (const int64_t b : kept) {
        const std::vector<Live>& live = search(b).live();
        const Live& it = live[at(std::min(k, std::ssize(live) - 1))];  // the last fills the grid
        rows.push_back(it.before * B + b);
        ids_.push_back(it.symbol);
      }
    if (!kept.empty()) select_rows(predictor_, rows, kept, old_rows);
    columns_ = std::move(sentences);
  }

  Predictor& predictor_;
  const BeamOptions& options_;
  std::optional<int32_t> banned_;
  std::vector<SentenceSearch> searches_;  // by sentence
  // By column of the grid:
  std::vector<int64_t> columns_;  // its sentence
  std::vector<std::vector<Candidate>> best_;
  std::vector<int32_t> ids_;  // the last symbol of each row of the grid
  std::vector<int64_t> source_lengths_;
};

}  // namespace

Keys keys_of(BeamOptions& options) {
  return {
      {"beam", &options.beam, any_beam(), "hypotheses", "kept of each sentence; 1: greedy search"},
      {"n_best", &options.n_best, any_beam(), "hypotheses", "returned of each sentence"},
      {"length_penalty", &options.length_penalty, at_least(0), "",
       "exponent of the length that log p is divided by; 0: not divided"},
      {"max_length", &options.max_length, any_count(), "symbols", "where a sentence is cut off"},
      {"allow_unknown", &options.allow_unknown, "the unknown symbol may be chosen"},
  };
}

void check_options(const BeamOptions& options) {
  check_limits_of(options);
  check_input(options.n_best <= options.beam,
              "n_best = {}: a beam of {} keeps fewer hypotheses; set beam to {} or more", options.n_best,
              options.beam, options.n_best);
}

std::string search_text(int64_t beam) {
  return beam == 1 ? "greedy search" : fmt::format("a beam of {}", beam);
}

std::vector<std::vector<Hypothesis>> beam_search(Predictor& predictor, const SearchSymbols& symbols,
                                                 const BeamOptions& options) {
  check_options(options);
  return BatchSearch(predictor, symbols, options).run();
}

}  // namespace rondo
