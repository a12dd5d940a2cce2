// Error rates of transcripts: the fewest substitutions, insertions and deletions that make a reference into a
// hypothesis (Levenshtein 1966), as a share of the reference's length. Over a corpus both are summed before
// they are divided. WER is that of words, CER that of characters, as the Python package jiwer computes them.
// Text is UTF-8; nothing is normalised but white space. Used by evaluations of speech recognition.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// The edits of a transcript. Those of a corpus are the sum.
struct EditCounts {
  int64_t substitutions = 0, insertions = 0, deletions = 0;
  int64_t reference = 0;  // symbols of the reference: words or characters

  int64_t edits() const { return substitutions + insertions + deletions; }
  /// edits() / reference: 0 for the same text; above 1 if much is inserted. InputError for references without
  /// symbols.
  double rate() const;
  EditCounts& operator+=(const EditCounts& other);
  bool operator==(const EditCounts&) const = default;
};

/// Of the ways with the fewest edits one with the most substitutions. Time: the product of the lengths.
EditCounts edit_counts(std::span<const int32_t> reference, std::span<const int32_t> hypothesis);

/// Of words, which lie between white space (WER; jiwer: between spaces).
EditCounts word_edits(std::string_view reference, std::string_view hypothesis);
/// Of code points, spaces included, but for white space at both ends (CER). InputError, as for words, for
/// text that is not UTF-8.
EditCounts character_edits(std::string_view reference, std::string_view hypothesis);

/// "4.52 % (31 substitutions, 5 insertions, 12 deletions of 1062 words)".
std::string error_rate_text(const EditCounts& counts, std::string_view symbols);

}  // namespace rondo
