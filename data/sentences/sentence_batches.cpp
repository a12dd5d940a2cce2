// Sentences and the order of their batches; see data/sentences/sentence_batches.h.
#include "data/sentences/sentence_batches.h"

#include <algorithm>
#include <numeric>

namespace rondo {

// --- Sentences ---

void Sentences::add(std::span<const std::int32_t> sentence) {
  check(!sentence.empty(), "[sentences] a sentence has at least its end symbol");
  ids_.insert(ids_.end(), sentence.begin(), sentence.end());
  ends_.push_back(std::ssize(ids_));
}

std::span<const std::int32_t> Sentences::operator[](std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  const std::int64_t begin = i > 0 ? ends_[i - 1] : 0;
  return std::span(ids_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(ends_[i] - begin));
}

std::vector<std::span<const std::int32_t>> Sentences::at(std::span<const std::int64_t> indices) const {
  std::vector<std::span<const std::int32_t>> some;
  for (const std::int64_t i : indices) some.push_back((*this)[i]);
  return some;
}

std::int64_t Sentences::count(std::int32_t id) const { return std::ranges::count(ids_, id); }

Sentences encode_sentences(std::string_view text, const std::string& name, const Vocabulary& vocabulary) {
  const auto line_end = vocabulary.line_end_id();
  check_input(line_end.has_value(), "{}: the vocabulary has no symbol for the end of a line", name);
  std::string ended;  // other units than words give a last line without a newline no end symbol
  if (!text.empty() && !text.ends_with('\n')) text = ended = std::string(text) + '\n';

  Sentences sentences;
  const std::vector<std::int32_t> ids = vocabulary.encode(text, name).ids;
  for (auto begin = ids.begin(); begin != ids.end();) {
    const auto end = std::find(begin, ids.end(), *line_end) + 1;
    sentences.add({begin, end});
    begin = end;
  }
  const std::vector<std::string_view> lines = split_lines(text);
  if (sentences.size() != std::ssize(lines)) {
    const auto bad =
        std::ranges::find_if(lines, [](std::string_view line) { return has_word(line, eos_symbol); });
    throw InputError(fmt::format("{}: line {}: the word {} stands for the end of a line; remove it", name,
                                 bad - lines.begin() + 1, eos_symbol));
  }
  return sentences;
}

std::int64_t longest_of(const std::vector<std::int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::ranges::max_element(lengths);
}

PaddedSentences padded(const std::vector<std::span<const std::int32_t>>& sentences, bool reverse) {
  const std::size_t B = sentences.size();
  PaddedSentences batch;
  batch.sentences = std::ssize(sentences);
  for (const auto sentence : sentences) {
    check(!sentence.empty(), "[sentence batches] a sentence has at least its end symbol");
    batch.lengths.push_back(std::ssize(sentence));
  }
  batch.steps = longest_of(batch.lengths);
  batch.ids.assign(static_cast<std::size_t>(batch.steps) * B, 0);
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t words = sentences[b].size() - 1;
    for (std::size_t t = 0; t <= words; ++t)
      batch.ids[t * B + b] = sentences[b][reverse && t < words ? words - 1 - t : t];
  }
  return batch;
}

ShiftedSentences shifted(const std::vector<std::span<const std::int32_t>>& sentences) {
  ShiftedSentences batch;
  const std::size_t B = sentences.size();
  for (const auto sentence : sentences) batch.lengths.push_back(std::ssize(sentence));
  batch.steps = longest_of(batch.lengths);
  batch.inputs.assign(static_cast<std::size_t>(batch.steps) * B, 0);
  batch.targets.assign(batch.inputs.size(), ShiftedSentences::ignore_index);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < sentences[b].size(); ++t) {
      batch.inputs[t * B + b] = t > 0 ? sentences[b][t - 1] : sentences[b].back();
      batch.targets[t * B + b] = sentences[b][t];
    }
  return batch;
}

void lengthen(PaddedSentences& batch, std::int64_t steps) {
  batch.steps = steps;
  batch.ids.resize(static_cast<std::size_t>(steps) * batch.lengths.size(), 0);
}

// --- The order of batches ---

Keys batch_keys(SentenceBatchOptions& options, const std::string& counted) {
  return {
      {"batch", &options.batch, any_count(), "sentences or symbols", "size of a batch: see train.batch_by"},
      {"batch_by", choice(options.by), "what train.batch counts: " + counted + ", including padding"},
  };
}

Keys keys_of(SentenceBatchOptions& options) { return batch_keys(options, "sentences; or their symbols"); }

BatchOrder::BatchOrder(const SentenceBatchOptions& options, std::vector<Lengths> lengths, std::uint64_t seed)
    : options_(options), lengths_(std::move(lengths)), seed_(seed), order_(lengths_.size()) {
  check_limits_of(options);
  check_input(!lengths_.empty(), "there are no sentences");
  seek(1, 0);
}

std::size_t BatchOrder::end_of_pool(std::size_t begin) const {
  constexpr std::int64_t batches = 100;  // enough to find similar lengths, few enough to mix the sentences
  std::size_t end = begin;
  for (std::int64_t size = 0; end < order_.size() && size < batches * options_.batch; ++end)
    size += options_.by == BatchBy::symbols ? lengths(order_[end]).first : 1;
  return end;
}

std::size_t BatchOrder::end_of_batch(std::size_t begin, std::size_t end_of_pool) const {
  const std::int64_t longest = lengths(order_[begin]).first;
  std::int64_t longest_second = 0;
  std::size_t end = begin;
  for (std::int64_t count = 1; end < end_of_pool; ++end, ++count) {
    if (options_.both_sides) longest_second = std::max(longest_second, lengths(order_[end]).second);
    const std::int64_t size = options_.by == BatchBy::symbols ? count * (longest + longest_second) : count;
    if (size > options_.batch && end > begin) break;
  }
  return end;
}

void BatchOrder::seek(std::int64_t epoch, std::int64_t position) {
  const bool is_random = epoch > 0;
  epoch_ = epoch;
  std::mt19937_64 random = epoch_generator(seed_, epoch);
  if (chosen_.empty())
    std::iota(order_.begin(), order_.end(), 0);
  else
    order_ = chosen_;
  if (is_random) shuffle(order_, random);

  const auto longer = [&](std::int64_t a, std::int64_t b) { return lengths(a) > lengths(b); };
  const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  batches_.clear();
  for (std::size_t pool = 0; pool < order_.size();) {
    const std::size_t end = is_random ? end_of_pool(pool) : order_.size();
    std::stable_sort(place(pool), place(end), longer);
    for (std::size_t begin = pool; begin < end; begin = batches_.back().end)
      batches_.push_back({begin, end_of_batch(begin, end)});
    pool = end;
  }
  if (is_random) shuffle(batches_, random);

  check(position >= 0 && position <= length(), "[sentence batches] a position from 0 to {} was expected: {}",
        length(), position);
  position_ = position;
}

void BatchOrder::seek_extreme(Extreme extreme) {
  const auto symbols_of = [&](const Range& batch) {
    Lengths longest;
    for (std::size_t i = batch.begin; i < batch.end; ++i)
      longest = {std::max(longest.first, lengths(order_[i]).first),
                 std::max(longest.second, lengths(order_[i]).second)};
    return static_cast<std::int64_t>(batch.end - batch.begin) * (longest.first + longest.second);
  };
  const auto [least, most] =
      std::minmax_element(batches_.begin(), batches_.end(),
                          [&](const Range& a, const Range& b) { return symbols_of(a) < symbols_of(b); });
  position_ = (extreme == Extreme::largest ? most : least) - batches_.begin();
}

std::span<const std::int64_t> BatchOrder::next() {
  if (position_ == length()) return {};
  const auto [begin, end] = batches_[static_cast<std::size_t>(position_++)];
  return std::span(order_).subspan(begin, end - begin);
}

BatchShare BatchOrder::share() const {
  check(position_ > 0, "[sentence batches] a share is that of a batch: call next()");
  const auto [begin, end] = batches_[static_cast<std::size_t>(position_ - 1)];
  const auto whole = static_cast<std::int64_t>(end - begin), first = whole * own_ / ranks_;
  return {first, whole * (own_ + 1) / ranks_ - first, whole};
}

void BatchOrder::divide(std::int64_t ranks, std::int64_t own) {
  check(ranks > 0 && own >= 0 && own < ranks, "[sentence batches] rank {} of {}", own, ranks);
  ranks_ = ranks;
  own_ = own;
}

}  // namespace rondo
