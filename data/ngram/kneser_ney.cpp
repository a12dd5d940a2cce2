// Kneser-Ney smoothing; see data/ngram/kneser_ney.h, whose symbols are used here.
#include "data/ngram/kneser_ney.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/error.h"

namespace rondo {

using detail::index_of;

namespace {

using Ids = std::vector<std::int32_t>;

/// The n-grams of one order, sorted by context and then symbol. `<s>`, whose id is V, sorts last: n-grams
/// that begin with it are the last ones of each order.
struct Order {
  Ids context, suffix;           // without the last symbol, without the first one: indices in the order below
  Ids symbol;                    // the last one
  Ids count;                     // a
  std::int32_t line_starts = 0;  // the first n-gram that begins with `<s>`

  std::size_t size() const { return symbol.size(); }
};

/// The text with `<s>` before each line.
Ids with_line_starts(std::span<const std::int32_t> ids, std::optional<std::int32_t> line_end,
                     std::int32_t V) {
  Ids tokens;
  const auto lines = line_end ? std::ranges::count(ids, *line_end) : 0;
  tokens.reserve(ids.size() + static_cast<std::size_t>(lines) + 1);
  bool line_start = true;
  for (const std::int32_t id : ids) {
    if (line_start) tokens.push_back(V);
    tokens.push_back(id);
    line_start = id == line_end;
  }
  return tokens;
}

/// `positions` sorted by key(position) in [0, keys), stable, without those of key -1: a counting sort.
template <class Key>
Ids sorted_by(const Key& key, std::size_t keys, const Ids& positions) {
  Ids begin(keys + 1);
  for (const std::int32_t i : positions)
    if (key(i) >= 0) ++begin[index_of(key(i)) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Ids sorted(index_of(begin.back()));
  for (const std::int32_t i : positions)
    if (key(i) >= 0) sorted[index_of(begin[index_of(key(i))]++)] = i;
  return sorted;
}

/// All n-grams, with counts c. For each token, the n-gram that ends there grows by one order at a time: its
/// context is the n-gram that ends at the token before.
std::vector<Order> count_ngrams(const Ids& tokens, std::int32_t V, int orders) {
  std::vector<Order> result(static_cast<std::size_t>(orders));
  Order& unigrams = result[0];
  unigrams.symbol.resize(index_of(V) + 1);
  std::iota(unigrams.symbol.begin(), unigrams.symbol.end(), 0);
  unigrams.context = unigrams.suffix = unigrams.count = Ids(unigrams.size());
  unigrams.line_starts = V;
  for (const std::int32_t token : tokens) ++unigrams.count[index_of(token)];
  unigrams.count.back() = 0;  // `<s>` is never predicted
  if (orders == 1) return result;

  Ids positions(tokens.size());
  std::iota(positions.begin(), positions.end(), 0);
  const auto symbol_of = [&](std::int32_t i) { return tokens[index_of(i)] == V ? -1 : tokens[index_of(i)]; };
  positions = sorted_by(symbol_of, index_of(V), positions);
  Ids ending =
      tokens;  // the n-gram of the order below that ends at a token; -1 if it would begin before `<s>`
  for (int k = 2; k <= orders; ++k) {
    const Order& below = result[static_cast<std::size_t>(k - 2)];
    Order& order = result[static_cast<std::size_t>(k - 1)];
    const auto context_of = [&](std::int32_t i) { return ending[index_of(i) - 1]; };
    Ids longer(tokens.size(), -1);
    for (const std::int32_t i : sorted_by(context_of, below.size(), positions)) {
      const std::int32_t context = context_of(i), symbol = tokens[index_of(i)];
      if (order.size() == 0 || order.context.back() != context || order.symbol.back() != symbol) {
        order.context.push_back(context);
        order.symbol.push_back(symbol);
        order.suffix.push_back(ending[index_of(i)]);
        order.count.push_back(0);
      }
      ++order.count.back();
      longer[index_of(i)] = static_cast<std::int32_t>(order.size() - 1);
    }
    const auto tail = std::ranges::lower_bound(order.context, below.line_starts);
    order.line_starts = static_cast<std::int32_t>(tail - order.context.begin());
    ending = std::move(longer);
  }
  return result;
}

/// Replaces c by a in all orders but the highest: the number of contexts in which an n-gram occurs.
void adjust_counts(std::vector<Order>& orders) {
  for (std::size_t k = 0; k + 1 < orders.size(); ++k) {
    Order& order = orders[k];
    std::fill_n(order.count.begin(), order.line_starts, 0);
    for (const std::int32_t suffix : orders[k + 1].suffix) ++order.count[index_of(suffix)];
  }
}

KneserNey::Discounts discounts_of(const Order& order) {
  std::array<double, 5> n{};  // n[j]: n-grams with a = j
  for (const std::int32_t count : order.count)
    if (count > 0 && count <= 4) ++n[index_of(count)];
  KneserNey::Discounts discounts;
  std::array<double, 3> D;
  const double Y = n[1] / (n[1] + 2 * n[2]);
  for (std::size_t j = 1; j <= 3; ++j) {
    const auto count = static_cast<double>(j);
    D[j - 1] = count - (count + 1) * Y * n[j + 1] / n[j];
    if (n[j] == 0 || n[j + 1] == 0 || !(D[j - 1] > 0)) return discounts;
  }
  return {D, true};
}

/// D(a).
double discount(const KneserNey::Discounts& discounts, std::int32_t count) {
  return count == 0 ? 0 : discounts.of[index_of(std::min(count, 3)) - 1];
}

/// For each context: the sum of a, and the weight b, which is 1 if nothing follows.
struct Contexts {
  std::vector<double> total, weight;
};
Contexts contexts_of(const Order& order, std::size_t contexts, const KneserNey::Discounts& discounts) {
  Contexts result{std::vector<double>(contexts), std::vector<double>(contexts)};
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.total[index_of(order.context[i])] += order.count[i];
    result.weight[index_of(order.context[i])] += discount(discounts, order.count[i]);
  }
  for (std::size_t h = 0; h < contexts; ++h)
    result.weight[h] = result.total[h] > 0 ? result.weight[h] / result.total[h] : 1;
  return result;
}

/// p of each n-gram of an order, given that of the order below.
std::vector<double> probabilities(const Order& order, const Contexts& contexts,
                                  const KneserNey::Discounts& discounts, const std::vector<double>& below) {
  std::vector<double> p(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t h = index_of(order.context[i]);
    const double own = order.count[i] - discount(discounts, order.count[i]);
    p[i] = own / contexts.total[h] + contexts.weight[h] * below[index_of(order.suffix[i])];
  }
  return p;
}

}  // namespace

KneserNey kneser_ney(std::span<const std::int32_t> ids, std::int64_t vocabulary_size,
                     std::optional<std::int32_t> line_end, int order) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;  // leaves room for `<s>`
  check(order >= 1, "[kneser_ney] an order of 1 or more was expected: {}", order);
  check(vocabulary_size > 0 && vocabulary_size < most && !ids.empty() && std::ssize(ids) < most,
        "[kneser_ney] 1 to {} ids and a vocabulary of as many were expected: {} ids, vocabulary {}", most,
        ids.size(), vocabulary_size);
  const auto [least, largest] = std::minmax_element(ids.begin(), ids.end());
  check(*least >= 0 && *largest < vocabulary_size, "[kneser_ney] ids in [0, {}) were expected: {} to {}",
        vocabulary_size, *least, *largest);

  const auto V = static_cast<std::int32_t>(vocabulary_size);
  std::vector<Order> orders = count_ngrams(with_line_starts(ids, line_end, V), V, order);
  adjust_counts(orders);

  KneserNey result{{}, NgramModel(V)};
  for (const Order& it : orders) result.discounts.push_back(discounts_of(it));
  Contexts contexts = contexts_of(orders[0], 1, result.discounts[0]);
  std::vector<double> p{1 / static_cast<double>(V)};
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const Order& it = orders[k];
    p = probabilities(it, contexts, result.discounts[k], p);
    if (k == 0) p.back() = 0;  // `<s>`
    const bool highest = k + 1 == orders.size();
    if (!highest) contexts = contexts_of(orders[k + 1], it.size(), result.discounts[k + 1]);
    std::vector<NgramModel::Ngram> ngrams(it.size());
    const NgramModel::State first = result.model.first(static_cast<int>(k));
    for (std::size_t i = 0; i < it.size(); ++i)
      ngrams[i] = {first + it.context[i], it.symbol[i], std::min(0.0, std::log(p[i])),
                   highest ? 0 : std::log(contexts.weight[i])};
    result.model.add_order(ngrams);
  }
  return result;
}

}  // namespace rondo
