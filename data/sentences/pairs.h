// Pairs of sentences. As parallel text: pairs of texts in which line n of one is the translation of line n of
// the other, from files; or made of lines of one language, or of random letters. As ids: a line of the source
// and its translation, each with the end symbol (`<eos>`, or the newline, of its vocabulary); and their
// batches. The texts of one language alone are in data/text/corpus.h. Read next: nn/models/encoder_decoder.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/text/text.h"
#include "tensor/keys.h"

namespace rondo {

// --- Parallel text ---

/// The names of the files: with the defaults and the languages de and en, train.de and train.en are the
/// training text.
struct ParallelOptions {
  std::string source_language{}, target_language{};             // the ends of the names, after the last dot
  std::string train = "train", valid = "valid", test = "test";  // the names before it; test may be empty
  /// In place of files: pairs of reversal_task() to train on; 0: none.
  std::int64_t generated_pairs = 0;
};
Keys keys_of(ParallelOptions& options);
/// Throws InputError for a missing language or name, and for one language twice, unless the text is
/// generated.
void check_options(const ParallelOptions& options);

/// Two texts with the same number of lines. A last line without a newline gets one.
struct TextPair {
  TextPair() = default;
  /// Throws InputError, with the names and both numbers, if these differ.
  TextPair(Text source, Text target);

  Text source, target;
  std::int64_t lines = 0;
  bool has_gaps = false;  // a line whose target is empty gives no pair
};

using ParallelText = Splits<TextPair>;

/// Reads the files of a folder, which may be packed (train.de.gz), or generates the text. There is no test
/// text if its name is empty or neither of its files exists. InputError for options that check_options()
/// refuses; for any other file that is missing, naming similar files of the folder; for empty files, pipes
/// and folders, and, except as bytes, with the line, for what is not UTF-8 or has NUL bytes; for different
/// numbers of lines.
ParallelText open_parallel_text(const std::filesystem::path& folder, const ParallelOptions& options,
                                Unit unit);

/// One side of another text of pairs: the file `prefix`.`language`, whole. The same InputErrors for it.
Text open_side(const std::filesystem::path& prefix, const std::string& language, Unit unit);

// --- A generated task ---
// It needs no files: the target is the source in reverse. A model that has learned it has learned to use
// every position of its source.

struct ReversalOptions {
  std::int64_t letters = 10;     // the first ones of the alphabet; at most 26
  std::int64_t min_length = 1;   // of a line, in letters
  std::int64_t max_length = 10;  // lengths are uniform
};

/// `count` pairs of lines of random letters, which are separated by spaces so that each is a word: "c a b"
/// and "b a c". A function of the seed: splits need different ones. InputError for options out of range.
TextPair reversal_task(std::uint64_t seed, std::int64_t count, const ReversalOptions& options = {});

// --- Pairs of lines of one language ---
// An encoder-decoder learns from them without translations. Luong, Le, Sutskever, Vinyals & Kaiser 2016,
// "Multi-task Sequence to Sequence Learning", section 3.4, have two such objectives: the auto-encoder, and
// the skip-thought objective of Kiros et al. 2015, to write the next sentence. Where the sentences of a text
// do not follow each other, they split each one, and one half is used to predict the other.

/// Which text is read, and which one is written for it.
enum class PairsOf {
  lines,      // a line, and the same line
  halves,     // the first half of a line's words, and the second half
  next_lines  // a line, and the line after it
};
inline std::vector<std::string> names_of(PairsOf) { return {"lines", "halves", "next_lines"}; }

/// A line of source and of target for each line of a text, in its order. Words are what white space
/// separates, whatever the unit of symbols is; the white space between two halves is in neither, and the
/// middle one of an odd number of words is in the first half. A line gives no pair (TextPair::has_gaps) if it
/// has fewer than two words and so no halves; or if it or the next line is empty, since an empty line, like
/// the end of the text, ends a passage. InputError if no line gives a pair.
TextPair pairs_of_text(const Text& text, PairsOf pairs);

// --- Ids ---

struct Pairs {
  Sentences source, target;   // of the same size
  std::int64_t left_out = 0;  // pairs of the text that are too long
  std::int64_t empty = 0;     // pairs that are left out since a side is empty

  std::int64_t size() const { return source.size(); }
  std::int64_t scored() const { return target.symbols(); }
  BatchOrder::Lengths lengths(std::int64_t i) const { return {target.length(i), source.length(i)}; }
};

struct PairOptions {
  bool shared_vocabulary = false;  // one for both languages
  std::int64_t max_length = 0;     // in training only; the end symbol does not count; 0: no limit
};
Keys keys_of(PairOptions& options);

struct PairVocabularies {
  Vocabulary source, target;
};
/// Makes the vocabularies of the two training texts; if shared, of both together: then the two are equal, and
/// the limits count the symbols of both. InputErrors of Vocabulary.
PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared);

/// Encodes pairs of which no side has more than `max_length` symbols, not counting its end; 0: no limit.
/// Pairs with an empty side, from which no translation can be learnt, are left out of a text with gaps, and
/// of any text if `without_empty`. InputErrors of encode_sentences(), and if no pair is left.
Pairs encode_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                   std::int64_t max_length = 0, bool without_empty = false);

// --- Batches ---

struct PairBatchOptions {
  SentenceBatchOptions order{.batch = 80};
  bool reverse_source = false;  // Sutskever, Vinyals & Le 2014, section 3.3; the end symbol stays last
};
Keys keys_of(PairBatchOptions& options);

/// B pairs.
struct PairBatch {
  BatchShare share;  // of the whole batch
  PaddedSentences source;
  ShiftedSentences target;
  std::int64_t scored = 0;          // symbols of the target, of the whole batch
  std::vector<std::int64_t> pairs;  // [B]: the index of each row's pair
};

/// In the order of BatchOrder, by the lengths of target and source: the rows of a batch are in the order of
/// their target lengths, the longest first. With BatchBy::symbols a pair that is longer than the limit is a
/// batch of its own, and other epochs may have a few batches more or fewer.
using PairBatches = BatchesOf<Pairs, PairBatch, PairBatchOptions>;
inline const SentenceBatchOptions& order_of(const PairBatchOptions& options) { return options.order; }
void fill_batch(PairBatch& batch, const Pairs& pairs, const PairBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo
