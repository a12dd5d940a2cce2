// Sampling.
#include "lm/decoding/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "tensor/random.h"

namespace rondo {

int32_t sample_symbol(const std::vector<real>& logits, const SamplingOptions& options, double number,
                      int32_t banned) {
  check(
      options.temperature >= 0 && options.top_k >= 0 && options.top_p > 0 && options.top_p <= 1,
      "[sampling] a temperature and a top_k of 0 or more and a top_p above 0, up to 1, were expected: {}, {} "
      "and {}",
      options.temperature, options.top_k, options.top_p);
  check(number > 0 && number < 1, "[sampling] a random number between 0 and 1 was expected: {}", number);
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase(order, banned);
  real most = -std::numeric_limits<real>::infinity();
  for (const int32_t id : order) most = most < logits[id] || std::isnan(logits[id]) ? logits[id] : most;
  check(std::isfinite(most), "[sampling] the most probable of {} symbols has the logit {}", order.size(),
        most);
  size_t sorted = 0;
  // The i-th most probable symbol, of equal ones the first. Few are asked for, so few are sorted.
  const auto at_rank = [&](size_t i) {
    if (i >= sorted) {
      const size_t end = std::min(order.size(), std::max<size_t>(32, 2 * i));
      std::partial_sort(order.begin() + sorted, order.begin() + end, order.end(), [&](int32_t a, int32_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
      });
      sorted = end;
    }
    return order[i];
  };
  if (options.temperature == 0) return at_rank(std::min(static_cast<size_t>(options.rank), order.size() - 1));
  const auto weight_of = [&](int32_t id) {
    return std::exp((static_cast<double>(logits[id]) - most) / options.temperature);
  };
  size_t count = order.size();
  if (options.top_k > 0) count = std::min(count, static_cast<size_t>(options.top_k));
  if (count < order.size()) at_rank(count - 1);
  double kept = 0;
  for (size_t i = 0; i < count; ++i) kept += weight_of(order[i]);
  if (options.top_p < 1) {
    const double wanted = options.top_p * kept;
    size_t first = 0;
    kept = 0;
    while (first < count && (first == 0 || kept < wanted)) kept += weight_of(at_rank(first++));
    count = first;
  }
  double left = number * kept;
  for (size_t i = 0; i + 1 < count; ++i) {
    left -= weight_of(at_rank(i));
    if (left < 0) return at_rank(i);
  }
  return at_rank(count - 1);
}

int32_t draw_symbol(const std::vector<real>& logits, const SamplingOptions& options, uint64_t drawn,
                    std::optional<int32_t> unknown) {
  const RandomKey key{.seed = options.seed, .name = hash_of("sampling")};
  return sample_symbol(logits, options, uniform_from(key.bits(drawn)),
                       options.allow_unknown ? -1 : unknown.value_or(-1));
}

SoftmaxTerms::SoftmaxTerms(const std::vector<real>& logits) : largest(std::ranges::max(logits)) {
  for (const real it : logits) sum += std::exp(it - largest);
}

Sampler::Sampler(LanguageModel& model, const Vocabulary& vocabulary, const SamplingOptions& options,
                 StatesOfText* known)
    : model_(model),
      vocabulary_(vocabulary),
      options_(options),
      known_(known),
      states_(model.initial_states(1)),
      writer_(vocabulary.tokenization().unit) {
  model_.set_training(false);
  if (const auto line_end = vocabulary.line_end_id()) unread_ = {*line_end};
}

std::string Sampler::read(const std::vector<int32_t>& ids) {
  std::vector<std::string> written;
  for (const int32_t id : ids) written.push_back(vocabulary_.symbol(id));
  return read(ids, written);
}

std::string Sampler::read(const std::vector<int32_t>& ids, const std::vector<std::string>& written) {
  unread_.insert(unread_.end(), ids.begin(), ids.end());
  std::string text;
  for (const std::string& symbol : written) text += writer_.next(symbol);
  return text;
}

std::vector<real> Sampler::logits() {
  constexpr size_t piece = StatesOfText::piece;
  if (unread_.empty()) unread_ = {0};  // a text without line ends: any symbol will do
  std::span<const int32_t> left = unread_;
  StatesOfText* const known = drawn_ == 0 ? known_ : nullptr;
  if (known != nullptr) {
    size_t same = 0;  // pieces
    while (left.size() > piece && same < known->after.size() &&
           std::ranges::equal(left.first(piece), std::span(known->ids).subspan(same * piece, piece))) {
      left = left.subspan(piece);
      ++same;
    }
    if (same == known->after.size() && std::ranges::equal(left, known->rest)) {
      states_ = known->after_rest;
      return known->logits;
    }
    known->ids.resize(same * piece);
    known->after.resize(same);
    known->rest.clear();
    if (same > 0) states_ = known->after.back();
  }
  while (true) {
    const std::span<const int32_t> ids = left.first(std::min(left.size(), piece));
    const auto count = static_cast<int64_t>(ids.size());
    auto [output, states] = model_.forward({tokens({ids.begin(), ids.end()}), count, 1}, states_);
    states_ = std::move(states);
    left = left.subspan(ids.size());
    if (left.empty()) {
      const std::vector<real> next = model_.logits(output.rows(count - 1, count)).value().to_vector();
      if (known != nullptr)
        known->rest = {ids.begin(), ids.end()}, known->after_rest = states_, known->logits = next;
      return next;
    }
    if (known == nullptr) continue;
    known->ids.insert(known->ids.end(), ids.begin(), ids.end());
    // A state is a view of those of all steps, whose memory it would keep.
    known->after.push_back(mapped(states_, [](const Variable& x) { return Variable(clone(x.value())); }));
  }
}

std::string Sampler::next() {
  const NoGradient guard;
  last_logits_ = logits();
  last_id_ = draw_symbol(last_logits_, options_, drawn_++, vocabulary_.unknown_id());
  options_.rank = 0;
  unread_ = {last_id_};
  return writer_.next(vocabulary_.symbol(last_id_));
}

double Sampler::log_probability() const {
  check(last_id_ >= 0, "[sampling] no symbol has been drawn");
  const auto [largest, sum] = SoftmaxTerms(last_logits_);
  return last_logits_[last_id_] - largest - std::log(sum);
}

// --- Stop strings ---

std::string StopStrings::take(const std::string& text) {
  if (stopped_) return "";
  held_ += text;
  std::size_t found = std::string::npos, may_begin = held_.size();
  for (const std::string& stop : stops_) {
    found = std::min(found, held_.find(stop));
    // The longest end of the text that begins this string.
    for (std::size_t length = std::min(stop.size() - 1, held_.size()); length > 0; --length)
      if (held_.ends_with(stop.substr(0, length))) {
        may_begin = std::min(may_begin, held_.size() - length);
        break;
      }
  }
  if (found != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, "").substr(0, found);
  }
  const std::string sure = held_.substr(0, may_begin);
  held_.erase(0, may_begin);
  return sure;
}

}  // namespace rondo
