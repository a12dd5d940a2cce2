// The nearest known name to a mistyped one: see nearest.h.
#include "lm/program/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace rondo {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i letters of `a` to every prefix of `b`.
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

namespace {

std::string_view last_part(std::string_view name) { return name.substr(name.find_last_of('.') + 1); }
std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

namespace {

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    if (end > 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

/// Whether a name of words of three letters or more has all words of the other name.
bool has_words(const std::vector<std::string_view>& name, const std::vector<std::string_view>& other) {
  constexpr std::size_t shortest = 3;
  return !other.empty() && std::all_of(other.begin(), other.end(), [&](std::string_view word) {
    return word.size() >= shortest && std::find(name.begin(), name.end(), word) != name.end();
  });
}

/// The known name that has all words of this one and the fewest others, or the other way round; the longest
/// name that counts is that of a setting.
std::string with_the_same_words(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  const std::string_view last = last_part(name), section = name.substr(0, name.size() - last.size());
  if (last.size() > longest) return "";
  const std::vector<std::string_view> typed = parts_of(last);
  // Words that a key of another section happens to have say nothing, if the section is known.
  const auto is_here = [&](const std::string& candidate) { return candidate.starts_with(section); };
  const bool stays = std::any_of(known.begin(), known.end(), is_here);
  std::string best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    if (stays && !is_here(candidate)) continue;
    const std::vector<std::string_view> words = parts_of(last_part(candidate));
    if (!has_words(words, typed) && !has_words(typed, words)) continue;
    const std::size_t others = std::max(words.size(), typed.size()) - std::min(words.size(), typed.size());
    if (others < fewest) fewest = others, best = candidate;
  }
  return best;
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  const auto offer = [&](std::string_view a, std::string_view b, std::size_t more,
                         const std::string& candidate) {
    const std::size_t shorter = std::min(a.size(), b.size()), longer = std::max(a.size(), b.size());
    constexpr std::size_t least_beginning = 3;  // letters: "temp" begins "temperature"
    const bool begins_it = a.size() >= least_beginning && b.starts_with(a);
    // At least this difference must be inserted; so a typed text of great length is not compared.
    if (!begins_it && (longer - shorter) * 5 > longer * 2) return;
    const std::size_t distance = (begins_it ? 1 : edit_distance(a, b)) + more;
    if (distance > more && (distance - more) * 5 > longer * 2) return;
    if (distance >= best_distance) return;
    best_distance = distance;
    best = candidate;
  };
  const std::string_view typed = without_dashes(name), last = last_part(name);
  for (const std::string& candidate : known) {
    const std::string_view last_of_candidate = last_part(candidate);
    if (last_of_candidate.size() == candidate.size()) {
      offer(typed, without_dashes(candidate), 0, candidate);
      continue;
    }
    // Of names in sections, the last parts are compared: the section alone makes no two names near.
    const std::string_view section = name.substr(0, name.size() - last.size());
    const bool same = candidate.starts_with(section);
    offer(last, last_of_candidate, section.empty() || !same ? 1 : 0, candidate);
  }
  return best.empty() ? with_the_same_words(name, known) : best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, known, fmt::format("; known: {}", fmt::join(known, ", ")));
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const std::string near = nearest(name, known);
  return near.empty() ? otherwise : fmt::format("; did you mean '{}'?", near);
}

}  // namespace rondo
