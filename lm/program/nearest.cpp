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

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const auto last_part = [](std::string_view of) { return of.substr(of.find_last_of('.') + 1); };
  const auto without_dashes = [](std::string_view of) {
    return of.substr(std::min(of.find_first_not_of('-'), of.size()));
  };
  const std::string_view section = name.substr(0, name.size() - last_part(name).size());
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    // Of names in sections, the last parts are compared: the section alone makes no two names near.
    const bool has_section = candidate.find('.') != std::string::npos;
    const std::string_view typed = has_section ? last_part(name) : without_dashes(name);
    const std::string_view other = has_section ? last_part(candidate) : without_dashes(candidate);
    constexpr std::size_t least_beginning = 3;  // letters: "temp" begins "temperature"
    const bool begins_it = typed.size() >= least_beginning && other.starts_with(typed);
    const std::size_t longer = std::max(typed.size(), other.size());
    const auto is_far = [&](std::size_t edits) { return !begins_it && edits * 5 > longer * 2; };
    // So many edits are needed at least; a typed text of great length is then not compared.
    if (is_far(longer - std::min(typed.size(), other.size()))) continue;
    const std::size_t edits = begins_it ? 1 : edit_distance(typed, other);
    const bool is_elsewhere = has_section && (section.empty() || !candidate.starts_with(section));
    if (is_far(edits) || edits + is_elsewhere >= best_distance) continue;
    best_distance = edits + is_elsewhere;
    best = candidate;
  }
  return best;
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
