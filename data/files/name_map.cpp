// Rules for names; see data/files/name_map.h.
#include "data/files/name_map.h"

#include <algorithm>

#include "data/files/lines.h"

namespace rondo {
namespace {

constexpr std::string_view transposed_word = "transposed";

bool has_space(std::string_view text) { return std::ranges::any_of(text, is_space); }

/// `to` with what each `*` stands for.
std::string filled_in(std::string_view to, const std::vector<std::string>& parts) {
  std::string name;
  std::size_t next = 0;
  for (const char letter : to) letter == '*' ? name += parts[next++] : name += letter;
  return name;
}

}  // namespace

std::optional<std::vector<std::string>> fit(std::string_view pattern, std::string_view text) {
  std::vector<std::string> parts;
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text ? std::optional(parts) : std::nullopt;
  if (!text.starts_with(pattern.substr(0, star))) return std::nullopt;
  text.remove_prefix(star);
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view literal = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && !text.ends_with(literal)) return std::nullopt;
    const std::size_t at = last ? text.size() - literal.size() : text.find(literal);
    if (at == std::string_view::npos) return std::nullopt;
    parts.emplace_back(text.substr(0, at));
    if (last) return parts;
    text.remove_prefix(at + literal.size());
  }
}

NameMap NameMap::from_text(std::string_view text, const std::string& name) {
  NameMap map;
  map.name_ = printable(name);
  std::int64_t number = 0;
  for (const std::string_view raw : split_lines(text)) {
    ++number;
    const std::string_view line = stripped(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto check_rule = [&](bool good, const char* what) {
      check_input(good, "{}: line {}: '{}': {}", map.name_, number, excerpt(line), what);
    };
    const std::size_t equals = line.find('=');
    check_rule(equals != std::string_view::npos, "expected a rule: OLD = NEW");
    Rule rule{.from = std::string(stripped(line.substr(0, equals))), .to = {}, .line = number};
    std::string_view to = stripped(line.substr(equals + 1));
    if (to.ends_with(transposed_word) && has_space(to)) {
      rule.transposed = true;
      to = stripped(to.substr(0, to.size() - transposed_word.size()));
    }
    rule.to = to;
    check_rule(!rule.from.empty() || !rule.to.empty(), "a rule without names");
    check_rule(!has_space(rule.from) && !has_space(rule.to),
               "names have no spaces; after them may stand: transposed");
    const auto stars = [](const std::string& it) { return std::ranges::count(it, '*'); };
    check_rule(stars(rule.to) <= stars(rule.from), "each * of the new name needs one in the old name");
    if (rule.from.empty()) {
      check_rule(!rule.transposed, "zeros are zeros, transposed or not");
      map.zeros_.push_back(rule.to);
    } else {
      map.rules_.push_back(rule);
    }
  }
  return map;
}

NameMap::Renamed NameMap::operator()(const std::string& from) const {
  for (const Rule& rule : rules_)
    if (const auto parts = fit(rule.from, from)) return {filled_in(rule.to, *parts), rule.transposed, &rule};
  return {from};
}

}  // namespace rondo
