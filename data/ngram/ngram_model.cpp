// A back-off n-gram model; see data/ngram/ngram_model.h.
#include "data/ngram/ngram_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace rondo {

using detail::index_of;

NgramModel::NgramModel(std::int32_t symbols) : symbols_(symbols) {
  check(symbols > 0, "[ngram_model] one symbol or more was expected: {}", symbols);
  first_.push_back(1);
  symbol_ = {-1};
  suffix_ = {0};
  children_ = {1};
  log_probability_ = log_backoff_ = {0};
}

void NgramModel::add_order(const std::vector<Ngram>& ngrams) {
  const int its_order = order() + 1;
  const State begin = first(its_order - 1), end = first(its_order);  // of the contexts
  const bool unigrams = its_order == 1;
  check(!unigrams || std::ssize(ngrams) == symbols_ + std::int64_t{1},
        "[ngram_model] {} unigrams were expected: {}", symbols_ + std::int64_t{1}, ngrams.size());
  check(symbol_.size() + ngrams.size() < index_of(std::numeric_limits<State>::max()),
        "[ngram_model] fewer than 2^31 n-grams were expected: {}", symbol_.size() + ngrams.size());

  State parent = begin;
  std::int32_t before = -1;  // the previous symbol of the same context
  for (const Ngram& it : ngrams) {
    const bool in_order = it.context > parent || (it.context == parent && it.symbol > before);
    check(in_order && it.context < end, "[ngram_model] {}-grams sorted by context and symbol were expected",
          its_order);
    check(it.symbol >= 0 && it.symbol < symbols_ + unigrams,
          "[ngram_model] a {}-gram of symbols below {} was expected: {}", its_order, symbols_, it.symbol);
    check(it.log_probability <= 0 && !std::isnan(it.log_backoff),
          "[ngram_model] a probability from 0 to 1 was expected: {}, weight {}", std::exp(it.log_probability),
          std::exp(it.log_backoff));
    const auto place = static_cast<State>(symbol_.size());
    for (; parent < it.context; ++parent) children_.push_back(place);
    before = it.symbol;

    State suffix = 0;
    if (!unigrams) {
      State shorter = suffix_[index_of(parent)];
      while ((suffix = child(shorter, it.symbol)) == none) shorter = suffix_[index_of(shorter)];
    }
    symbol_.push_back(it.symbol);
    suffix_.push_back(suffix);
    log_probability_.push_back(it.log_probability);
    log_backoff_.push_back(it.log_backoff);
  }
  children_.resize(index_of(end) + 1, static_cast<State>(symbol_.size()));
  first_.push_back(static_cast<State>(symbol_.size()));
}

NgramModel::State NgramModel::child(State context, std::int32_t symbol) const {
  if (context == empty_context()) return 1 + symbol;
  if (!is_context(context)) return none;
  const auto begin = symbol_.begin() + children_[index_of(context)],
             end = symbol_.begin() + children_[index_of(context) + 1];
  const auto found = std::lower_bound(begin, end, symbol);
  return found == end || *found != symbol ? none : static_cast<State>(found - symbol_.begin());
}

/// Drops first symbols that affect nothing later: no n-gram continues from here, and the weight is 1.
NgramModel::State NgramModel::reduced(State node) const {
  const auto matters = [&](State it) {
    return log_backoff_[index_of(it)] != 0 ||
           (is_context(it) && children_[index_of(it)] < children_[index_of(it) + 1]);
  };
  while (node != empty_context() && !matters(node)) node = suffix_[index_of(node)];
  return node;
}

NgramModel::Step NgramModel::step(State context, std::int32_t symbol) const {
  check(symbol >= 0 && symbol < symbols_ && order() > 0,
        "[ngram_model] a symbol below {} of a model with n-grams was expected: {}", symbols_, symbol);
  double weight = 0;
  State node;
  while ((node = child(context, symbol)) == none) {
    weight += log_backoff_[index_of(context)];
    context = suffix_[index_of(context)];
  }
  return {weight + log_probability_[index_of(node)], reduced(node)};
}

std::optional<NgramModel::State> NgramModel::find(State context, std::int32_t symbol) const {
  const State found = child(context, symbol);
  return found == none ? std::nullopt : std::optional(found);
}

void NgramModel::for_each(int of_order,
                          const std::function<void(std::span<const std::int32_t>, const Ngram&)>& use) const {
  check(of_order >= 1 && of_order <= order(), "[ngram_model] an order from 1 to {} was expected: {}", order(),
        of_order);
  std::vector<std::int32_t> symbols;
  const auto visit = [&](const auto& self, State node) -> void {
    for (State next = children_[index_of(node)]; next < children_[index_of(node) + 1]; ++next) {
      symbols.push_back(symbol_[index_of(next)]);
      if (std::ssize(symbols) == of_order)
        use(symbols,
            {node, symbol_[index_of(next)], log_probability_[index_of(next)], log_backoff_[index_of(next)]});
      else
        self(self, next);
      symbols.pop_back();
    }
  };
  visit(visit, empty_context());
}

std::vector<double> log_probabilities(const NgramModel& model, std::span<const std::int32_t> ids,
                                      std::optional<std::int32_t> line_end) {
  std::vector<double> result;
  result.reserve(ids.size());
  NgramModel::State state = model.line_start();
  for (const std::int32_t id : ids) {
    const auto [log_probability, next] = model.step(state, id);
    result.push_back(log_probability);
    state = id == line_end ? model.line_start() : next;
  }
  return result;
}

}  // namespace rondo
