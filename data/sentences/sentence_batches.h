// Sentences as ids, and what all batches of whole sentences, or of pairs, questions, utterances, share: which
// of them are batched together, in which order, and how they are padded. Read next: data/sentences/pairs.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/text/streams.h"
#include "data/text/vocabulary.h"
#include "tensor/keys.h"

namespace rondo {

// --- Sentences ---

/// Sentences of ids, one after another; none is empty, because each has its end symbol.
class Sentences {
 public:
  void add(std::span<const std::int32_t> sentence);

  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// Sentence `index`; its size() is its length with the end symbol.
  std::span<const std::int32_t> operator[](std::int64_t index) const;
  std::int64_t length(std::int64_t index) const { return std::ssize((*this)[index]); }
  /// Some of them.
  std::vector<std::span<const std::int32_t>> at(std::span<const std::int64_t> indices) const;

  std::int64_t symbols() const { return static_cast<std::int64_t>(ids_.size()); }  // with the end symbols
  std::int64_t count(std::int32_t id) const;  // how often a symbol occurs

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> ends_;  // of each sentence, in ids_
};

/// One sentence for each line, also for an empty one, which has only its end symbol. InputErrors of
/// Vocabulary::encode; for a vocabulary without a line end; and, with the line, for words of a text that are
/// `<eos>`, which would shift all later lines.
Sentences encode_sentences(std::string_view text, const std::string& name, const Vocabulary& vocabulary);

/// The longest length; 0 if there is none.
std::int64_t longest_of(const std::vector<std::int64_t>& lengths);

/// B sentences of at most T symbols; element [t, b] is at t * B + b. Padding is id 0.
struct PaddedSentences {
  std::int64_t sentences = 0, steps = 0;  // B, T
  std::vector<std::int32_t> ids;          // [T, B]
  std::vector<std::int64_t> lengths;      // [B], with the end symbol
};
/// Row b is sentence b; with `reverse` from its end to its beginning, but for the end symbol, which stays
/// last. No sentences have no steps. Error if there is one without a symbol.
PaddedSentences padded(const std::vector<std::span<const std::int32_t>>& sentences, bool reverse = false);

/// Adds padding up to `steps` steps.
void lengthen(PaddedSentences& batch, std::int64_t steps);

/// B sentences of at most T symbols that a decoder writes: at each step it reads the symbol before, at the
/// first one the end symbol. Padding is id 0, and ignore_index in `targets`.
struct ShiftedSentences {
  static constexpr std::int32_t ignore_index = Chunk::ignore_index;

  std::int64_t steps = 0;             // T
  std::vector<std::int32_t> inputs;   // [T, B]: the end symbol, then the sentence without its last
  std::vector<std::int32_t> targets;  // [T, B]
  std::vector<std::int64_t> lengths;  // [B], with the end symbol
};
/// Row b is sentence b.
ShiftedSentences shifted(const std::vector<std::span<const std::int32_t>>& sentences);

// --- The order of batches ---

/// The limit of the size of a batch: the number of sentences, or of symbols including padding, T * B. Of
/// pairs of sentences, the symbols of the target, T * B, or of both sides, (S + T) * B.
enum class BatchBy { sentences, symbols };
inline std::vector<std::string> names_of(BatchBy) { return {"sentences", "symbols"}; }

struct SentenceBatchOptions {
  std::int64_t batch = 50;  // sentences or symbols
  BatchBy by = BatchBy::sentences;
  // Whether the symbols of pairs are those of both sides; for evaluations, which only limit memory: not a
  // key.
  bool both_sides = false;
};
Keys keys_of(SentenceBatchOptions& options);
/// Returns these keys where other things are batched; `counted` says what the two ways count.
Keys batch_keys(SentenceBatchOptions& options, const std::string& counted);

/// The rows of a batch that are computed here: all of them, or the share of one of several ranks, which
/// follow one another in the batch.
struct BatchShare {
  std::int64_t first = 0, count = 0;  // may have no row at all
  std::int64_t whole = 0;             // rows of the whole batch

  /// Returns this share of values that the whole batch has, one for each row.
  std::span<const std::int64_t> of(std::span<const std::int64_t> rows) const {
    return rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }
};

/// The sentences of each batch of an epoch, each sentence once. Those of similar length are batched together,
/// which saves padding; which of these, and in which order, is a function of seed and epoch: all sentences
/// are shuffled, cut into pools of about a hundred batches, each pool is sorted by length and cut into
/// batches, and the batches are shuffled. In a batch the longest sentence is the first.
class BatchOrder {
 public:
  /// The length of a sentence, and a second one, by which sentences of equal length are sorted: of a pair
  /// those of target and source.
  using Lengths = std::pair<std::int64_t, std::int64_t>;

  /// Begins with epoch 1. InputError for options outside their limits, and if there are no sentences.
  BatchOrder(const SentenceBatchOptions& options, std::vector<Lengths> lengths, std::uint64_t seed);

  /// The indices of the next whole batch's sentences; none at the end. With BatchBy::symbols a sentence that
  /// is longer than the limit is a batch of its own.
  std::span<const std::int64_t> next();
  /// The share of the batch that next() has returned.
  BatchShare share() const;
  /// Divides the batches among ranks from now on: share() is that of rank `own`. Shares differ by one
  /// sentence at most, and have none where there are fewer sentences than ranks.
  void divide(std::int64_t ranks, std::int64_t own);

  /// Leaves out all sentences but these, in ascending order, from the next seek() on.
  void choose(std::vector<std::int64_t> sentences) { chosen_ = order_ = std::move(sentences); }
  /// Goes to batch `position` of an epoch. Epoch 0, for evaluation: all sentences sorted by length, the
  /// longest first. Error outside [0, length()].
  void seek(std::int64_t epoch, std::int64_t position);
  /// Goes to the batch of this epoch that has the most symbols, padding included, or the fewest.
  void seek_extreme(Extreme extreme);
  std::int64_t position() const { return position_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t epoch() const { return epoch_; }
  /// Batches of this epoch.
  std::int64_t length() const { return static_cast<std::int64_t>(batches_.size()); }

 private:
  struct Range {
    std::size_t begin, end;  // in order_
  };
  const Lengths& lengths(std::int64_t sentence) const { return lengths_[static_cast<std::size_t>(sentence)]; }
  std::size_t end_of_pool(std::size_t begin) const;
  std::size_t end_of_batch(std::size_t begin, std::size_t end_of_pool) const;

  SentenceBatchOptions options_;
  std::vector<Lengths> lengths_;
  std::uint64_t seed_;
  std::int64_t epoch_ = 1;
  std::vector<std::int64_t> chosen_{};  // empty: all sentences
  std::vector<std::int64_t> order_;     // indices of sentences
  std::vector<Range> batches_;
  std::int64_t position_ = 0;
  std::int64_t ranks_ = 1, own_ = 0;
};

// --- Batches ---

/// The items of `Data` in batches, each once in an epoch. A kind of data has
///   data.size(), data.lengths(item)                 for BatchOrder
///   data.scored()                                   what an epoch scores
///   order_of(options)                               the SentenceBatchOptions of them
///   fill_batch(batch, data, options, whole, order)  which makes the rows `batch.share` of the items `whole`
template <class Data, class Batch, class Options = SentenceBatchOptions>
class BatchesOf : public BatchOrder {
 public:
  // By these names templates over all kinds of batches know what this one is made of.
  using Items = Data;
  using Staged = Batch;
  using Settings = Options;
  /// Begins with epoch 1. `data` must outlive it. InputErrors of BatchOrder.
  BatchesOf(const Options& options, const Data& data, std::uint64_t seed)
      : BatchOrder(order_of(options), lengths_of(data), seed), options_(options), data_(data) {}

  /// The next batch; false, and no batch, at the end.
  bool next(Batch& batch) {
    const std::span<const std::int64_t> whole = BatchOrder::next();
    if (whole.empty()) return false;
    batch = {};
    batch.share = share();
    fill_batch(batch, data_, options_, whole, *this);
    return true;
  }
  std::int64_t scored() const { return data_.scored(); }

 private:
  static std::vector<Lengths> lengths_of(const Data& data) {
    std::vector<Lengths> lengths;
    for (std::int64_t item = 0; item < data.size(); ++item) lengths.push_back(data.lengths(item));
    return lengths;
  }

  Options options_;
  const Data& data_;
};
inline const SentenceBatchOptions& order_of(const SentenceBatchOptions& options) { return options; }

}  // namespace rondo
