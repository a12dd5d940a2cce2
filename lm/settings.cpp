// Settings: see settings.h. The only file that includes toml++, which is slow to compile.
#include "lm/settings.h"

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <type_traits>

#include "lm/nearest.h"
#include "tensor/error.h"

namespace rondo {

Limits at_least(double least) { return {.least = least}; }
Limits between(double least, double most) { return {.least = least, .most = most}; }
Limits from_to_below(double least, double most) {
  return {.least = least, .most = most, .most_included = false};
}
Limits one_of(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }

namespace {

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  return names;
}

std::string section_of(const Key& key) { return key.name.substr(0, key.name.find('.')); }
std::string short_name(const Key& key) { return key.name.substr(key.name.find('.') + 1); }

const Key& find_key(const std::string& name, const std::string& where, const std::vector<Key>& keys) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  if (found == keys.end())
    throw InputError(fmt::format("{}: unknown key '{}'{}", where, name, did_you_mean(name, names_of(keys))));
  return *found;
}

bool within(const Limits& limits, double value) {
  // What is beyond a float would be infinite in a tensor.
  return std::abs(value) <= std::numeric_limits<float>::max() && value >= limits.least &&
         (limits.most_included ? value <= limits.most : value < limits.most);
}
bool within(const Limits&, bool) { return true; }
bool within(const Limits& limits, std::int64_t value) { return within(limits, static_cast<double>(value)); }
bool within(const Limits& limits, const std::string& value) {
  return limits.choices.empty() ||
         std::find(limits.choices.begin(), limits.choices.end(), value) != limits.choices.end();
}
template <class Element>
bool within(const Limits& limits, const std::vector<Element>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const Element& value) { return within(limits, value); });
}

/// A TOML value as `Value`, or nothing when the types do not fit. Integers serve as doubles, not the reverse;
/// one number serves as a list of one.
template <class Value>
std::optional<Value> convert(const toml::node& node) {
  if constexpr (std::is_same_v<Value, double>) {
    if (node.is_number()) return node.value<double>();
  } else if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, std::int64_t> ||
                       std::is_same_v<Value, std::string>) {
    return node.value_exact<Value>();
  } else {
    Value list;
    if (node.is_number()) {
      auto only = convert<typename Value::value_type>(node);
      if (!only) return std::nullopt;
      list.push_back(*std::move(only));
      return list;
    }
    if (!node.is_array()) return std::nullopt;
    for (const toml::node& element : *node.as_array()) {
      auto converted = convert<typename Value::value_type>(element);
      if (!converted) return std::nullopt;
      list.push_back(*std::move(converted));
    }
    return list;
  }
  return std::nullopt;
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  // TOML tells a float from an integer by its point or exponent.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// A TOML string. JSON's escapes are among TOML's, which also wants DEL escaped.
std::string string_text(const std::string& value) {
  std::string text = nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at; (at = text.find('\x7f')) != std::string::npos;) text.replace(at, 1, "\\u007f");
  return text;
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return number_text(value); }
std::string text_of(const std::string& value) { return string_text(value); }
template <class Element>
std::string text_of(const std::vector<Element>& values) {
  std::vector<std::string> texts;
  for (const Element& value : values) texts.push_back(text_of(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

InputError unexpected(const std::string& where, const Key& key, const std::string& given) {
  return InputError(fmt::format("{}: {} = {}: expected {}{}", where, key.name, given, accepted_text(key),
                                key.unit.empty() ? "" : fmt::format(" ({})", key.unit)));
}

/// Checks `node` against the key and assigns it. `given` is the value as the user wrote it.
void assign(const Key& key, const toml::node& node, const std::string& where, const std::string& given) {
  std::visit(
      [&]<class Value>(Value* member) {
        auto value = convert<Value>(node);
        if (!value || !within(key.limits, *value))
          throw unexpected(where, key, value ? text_of(*value) : given);
        *member = *std::move(value);
      },
      key.member);
}

std::string type_text(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return fmt::format("\"{}\"", node.as_string()->get());
    case toml::node_type::integer:
      return text_of(node.as_integer()->get());
    case toml::node_type::floating_point:
      return number_text(node.as_floating_point()->get());
    case toml::node_type::boolean:
      return text_of(node.as_boolean()->get());
    case toml::node_type::array:
      return "this list";
    case toml::node_type::table:
      return "this table";
    default:
      return "this date or time";
  }
}

toml::table parse(const std::string& text, const std::string& file) {
  try {
    return toml::parse(std::string_view(text));
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("{}:{}: not valid TOML: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace

void read_toml(const std::string& text, const std::string& file, const std::vector<Key>& keys) {
  const toml::table document = parse(text, file);
  const auto line_of = [&](const toml::node& node) {
    return fmt::format("{}:{}", file, node.source().begin.line);
  };
  std::vector<std::string> sections;
  for (const Key& key : keys)
    if (sections.empty() || sections.back() != section_of(key)) sections.push_back(section_of(key));
  for (const auto& [section_key, section_node] : document) {
    const std::string section(section_key.str());
    const toml::table* table = section_node.as_table();
    const bool known = std::find(sections.begin(), sections.end(), section) != sections.end();
    if (!known && !table) find_key(section, line_of(section_node), keys);  // a key outside of its section
    check_input(known, "{}: unknown section [{}]{}", line_of(section_node), section,
                did_you_mean(section, sections));
    check_input(table != nullptr, "{}: '{}' is a section: write [{}] and its keys below",
                line_of(section_node), section, section);
    for (const auto& [key, node] : *table) {
      const std::string name = fmt::format("{}.{}", section, key.str());
      assign(find_key(name, line_of(node), keys), node, line_of(node), type_text(node));
    }
  }
}

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  check_input(equals != std::string::npos && equals > 0,
              "--set {}: expected key=value, as in --set model.layers=2", text);
  const auto trimmed = [](std::string part) {
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    return part;
  };
  return {fmt::format("--set {}", text), trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

void apply_setting(const Setting& setting, const std::vector<Key>& keys) {
  const Key& key = find_key(setting.key, setting.where, keys);
  const bool quoted = !setting.value.empty() && (setting.value[0] == '"' || setting.value[0] == '\'');
  const bool bare_string = std::holds_alternative<std::string*>(key.member) && !quoted;
  const std::string value = bare_string ? string_text(setting.value) : setting.value;
  // A newline would end the value and begin another key.
  if (value.empty() || value.find('\n') != std::string::npos)
    throw unexpected(setting.where, key, setting.value);
  try {
    const toml::table table = toml::parse("value = " + value);
    assign(key, *table.get("value"), setting.where, setting.value);
  } catch (const toml::parse_error&) {
    throw unexpected(setting.where, key, setting.value);
  }
}

std::string value_text(const Key& key) {
  return std::visit([](const auto* member) { return text_of(*member); }, key.member);
}

std::string accepted_text(const Key& key) {
  const Limits& limits = key.limits;
  std::string range;
  if (std::isfinite(limits.least) && std::isfinite(limits.most))
    range = fmt::format(", {:.15g} to {:.15g}{}", limits.least, limits.most,
                        limits.most_included ? "" : " (excluded)");
  else if (std::isfinite(limits.least))
    range = fmt::format(", at least {:.15g}", limits.least);
  const std::string choices =
      limits.choices.empty() ? "a string" : fmt::format("one of: {}", fmt::join(limits.choices, ", "));
  return std::visit(
      [&]<class Value>(const Value*) -> std::string {
        if constexpr (std::is_same_v<Value, bool>) return "true or false";
        if constexpr (std::is_same_v<Value, std::int64_t>) return "an integer" + range;
        if constexpr (std::is_same_v<Value, double>) return "a number" + range;
        if constexpr (std::is_same_v<Value, std::string>) return choices;
        if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>)
          return fmt::format("a list of integers{}, as in [650, 650]", range);
        if constexpr (std::is_same_v<Value, std::vector<double>>)
          return fmt::format("a list of numbers{}, as in [0.9, 0.6]", range);
        return "a list of strings, as in [\"*.txt\"]";
      },
      key.member);
}

std::string write_toml(const std::vector<Key>& keys) {
  std::string text, section;
  for (const Key& key : keys) {
    if (section_of(key) != section) {
      section = section_of(key);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += fmt::format("{} = {}  # {}{}\n", short_name(key), value_text(key), key.doc,
                        key.unit.empty() ? "" : fmt::format(" ({})", key.unit));
  }
  return text;
}

std::string list_keys(const std::vector<Key>& keys) {
  std::string text;
  for (const Key& key : keys)
    text += fmt::format("{} = {}\n    {}{}; {}\n", key.name, value_text(key), accepted_text(key),
                        key.unit.empty() ? "" : fmt::format(" ({})", key.unit), key.doc);
  return text;
}

}  // namespace rondo
