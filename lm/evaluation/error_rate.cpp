// Edit distances and error rates; see lm/evaluation/error_rate.h.
#include "lm/evaluation/error_rate.h"

#include <unordered_map>
#include <utility>

#include "data/unicode.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// Fewer edits first; of as many, those with more substitutions.
bool better(const EditCounts& a, const EditCounts& b) {
  return a.edits() != b.edits() ? a.edits() < b.edits() : a.substitutions > b.substitutions;
}

std::u32string without_white_space_at_ends(std::u32string text) {
  while (!text.empty() && is_white_space(text.back())) text.pop_back();
  size_t begin = 0;
  while (begin < text.size() && is_white_space(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace

double EditCounts::rate() const {
  check_input(reference > 0, "the reference transcripts are empty: there is nothing to count errors of");
  return static_cast<double>(edits()) / static_cast<double>(reference);
}

EditCounts& EditCounts::operator+=(const EditCounts& other) {
  substitutions += other.substitutions;
  insertions += other.insertions;
  deletions += other.deletions;
  reference += other.reference;
  return *this;
}

EditCounts edit_counts(std::span<const int32_t> reference, std::span<const int32_t> hypothesis) {
  // row[j]: the first symbols of the reference against the first j of the hypothesis.
  std::vector<EditCounts> row(hypothesis.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j].insertions = static_cast<int64_t>(j);
  for (const int32_t symbol : reference) {
    EditCounts diagonal = row[0];
    ++row[0].deletions;
    for (size_t j = 1; j < row.size(); ++j) {
      EditCounts best = diagonal, inserted = row[j - 1], deleted = row[j];
      best.substitutions += symbol != hypothesis[j - 1];
      ++inserted.insertions;
      ++deleted.deletions;
      if (better(inserted, best)) best = inserted;
      if (better(deleted, best)) best = deleted;
      diagonal = std::exchange(row[j], best);
    }
  }
  row.back().reference = std::ssize(reference);
  return row.back();
}

EditCounts word_edits(std::string_view reference, std::string_view hypothesis) {
  std::unordered_map<std::u32string, int32_t> numbers;
  const auto ids = [&](std::string_view text, const char* name) {
    std::vector<int32_t> ids_of_words;
    for (std::u32string& word : split_at_white_space(code_points(text, name)))
      ids_of_words.push_back(
          numbers.try_emplace(std::move(word), static_cast<int32_t>(numbers.size())).first->second);
    return ids_of_words;
  };
  const std::vector<int32_t> expected = ids(reference, "the reference");
  return edit_counts(expected, ids(hypothesis, "the hypothesis"));
}

EditCounts character_edits(std::string_view reference, std::string_view hypothesis) {
  const auto ids = [](std::string_view text, const char* name) {
    const std::u32string characters = without_white_space_at_ends(code_points(text, name));
    return std::vector<int32_t>(characters.begin(), characters.end());
  };
  const std::vector<int32_t> expected = ids(reference, "the reference");
  return edit_counts(expected, ids(hypothesis, "the hypothesis"));
}

std::string error_rate_text(const EditCounts& counts, std::string_view symbols) {
  return fmt::format("{:.2f} % ({} substitutions, {} insertions, {} deletions of {} {})", 100 * counts.rate(),
                     counts.substitutions, counts.insertions, counts.deletions, counts.reference, symbols);
}

}  // namespace rondo
