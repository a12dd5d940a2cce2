// Settings: see settings.h.
#include "lm/settings/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "data/files/lines.h"
#include "data/text/text.h"
#include "lm/settings/remedies.h"
#include "lm/settings/toml.h"
#include "tensor/error.h"

namespace rondo {

namespace {

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  return names;
}

std::string section_of(const Key& key) { return key.name.substr(0, key.name.rfind('.')); }
std::string short_name(const Key& key) { return key.name.substr(key.name.rfind('.') + 1); }

std::vector<std::string> sections_of(const std::vector<Key>& keys) {
  std::vector<std::string> sections;
  for (const Key& key : keys)
    if (std::ranges::find(sections, section_of(key)) == sections.end()) sections.push_back(section_of(key));
  return sections;
}

/// The end of an error text: did_you_mean(), else where the keys are, which are too many for a line.
std::string instead_of(const std::string& name, const std::vector<Key>& keys) {
  return did_you_mean(
      name, names_of(keys),
      fmt::format("; the sections are {}, and `{} info --keys --recipe NAME` lists their keys",
                  fmt::join(sections_of(keys), ", "), this_program()));
}

auto find_named(const std::vector<Key>& keys, const std::string& name) {
  return std::ranges::find(keys, name, &Key::name);
}

const Key& find_key(const std::string& name, const std::string& where, const std::vector<Key>& keys) {
  const auto found = find_named(keys, name);
  if (found == keys.end())
    throw InputError(fmt::format("{}: unknown key '{}'{}", where, excerpt(name), instead_of(name, keys)));
  return *found;
}

bool within(const Limits&, bool) { return true; }
bool within(const Limits& limits, std::int64_t value) { return within(limits, static_cast<double>(value)); }
bool within(const Limits& limits, const std::string& value) {
  if (!limits.choices.empty()) return std::ranges::find(limits.choices, value) != limits.choices.end();
  // No command line and no file name can contain a NUL.
  return limits.control_characters ? value.find('\0') == std::string::npos : value == printable(value);
}
template <class Element>
bool within(const Limits& limits, const std::vector<Element>& values) {
  return std::ranges::all_of(values, [&](const Element& value) { return within(limits, value); });
}

/// An integer is accepted for a double, but not the reverse.
template <class Value>
std::optional<Value> scalar_as(const TomlScalar& scalar) {
  if (const auto* same = std::get_if<Value>(&scalar)) return *same;
  if constexpr (std::is_same_v<Value, double>)
    if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return static_cast<double>(*integer);
  return std::nullopt;
}

/// A value of the type of `member`, or nothing when the types do not fit.
template <class Value>
std::optional<Value> converted(const TomlValue& value, const Value* /*member*/) {
  return value.is_list ? std::nullopt : scalar_as<Value>(value.scalars.front());
}
/// A single number is accepted for a list.
template <class Element>
std::optional<std::vector<Element>> converted(const TomlValue& value,
                                              const std::vector<Element>* /*member*/) {
  if (!value.is_list && !scalar_as<double>(value.scalars.front())) return std::nullopt;
  std::vector<Element> list;
  for (const TomlScalar& it : value.scalars) {
    std::optional<Element> element = scalar_as<Element>(it);
    if (!element) return std::nullopt;
    list.push_back(*std::move(element));
  }
  return list;
}

using rondo::toml_text;
template <class Element>
std::string toml_text(const std::vector<Element>& values) {
  std::vector<std::string> texts;
  for (const Element& value : values) texts.push_back(toml_text(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// The end of an error text: the choice that may be meant, if the key is one.
std::string near_choice(const Key& key, std::string given) {
  const auto* const choice = std::get_if<ChoiceMember>(&key.member);
  if (given.starts_with('"')) given = given.substr(1, given.size() - 2);
  return did_you_mean(given, choice ? choice->names : key.limits.choices, "");
}

InputError unexpected(const std::string& where, const Key& key, const std::string& given) {
  return InputError(fmt::format("{}: {} = {}: expected {}{}{}", where, key.name, excerpt(given),
                                accepted_text(key), key.unit.empty() ? "" : fmt::format(" ({})", key.unit),
                                near_choice(key, given)));
}

/// Checks a value against a key's type and limits and assigns it; an InputError says what was given as text,
/// or as the user wrote it if it has another type.
struct Assign {
  const Key& key;
  const TomlValue& value;
  const std::string &where, &given;

  template <class Value>
  void operator()(Value* member) const {
    auto fitting = converted(value, member);
    if (!fitting) throw unexpected(where, key, given);
    if (!within(key.limits, *fitting)) throw unexpected(where, key, toml_text(*fitting));
    *member = *std::move(fitting);
  }
  void operator()(std::optional<double>* member) const {
    double number = not_given;
    const bool is_given = converted(value, &number) != not_given;
    if (is_given) (*this)(&number);
    *member = is_given ? std::optional(number) : std::nullopt;
  }
  void operator()(const ChoiceMember& it) const {
    const std::optional<std::string> name = converted(value, static_cast<std::string*>(nullptr));
    const auto found = std::ranges::find(it.names, name);
    if (found == it.names.end()) throw unexpected(where, key, name ? toml_text(*name) : given);
    it.set(static_cast<std::size_t>(found - it.names.begin()));
  }
};

void assign(const Key& key, const TomlValue& value, const std::string& where, const std::string& given) {
  std::visit(Assign{key, value, where, given}, key.member);
}

std::string given_text(const TomlValue& value) {
  if (value.is_list) return "this list";
  return std::visit([](const auto& it) { return toml_text(it); }, value.scalars.front());
}

}  // namespace

bool has_key(const std::vector<Key>& keys, const std::string& name) {
  return find_named(keys, name) != keys.end();
}

void read_toml(const std::string& text, const std::string& file, const std::vector<Key>& keys,
               OtherKeys others) {
  const std::vector<std::string> sections = sections_of(keys);
  const auto is_section = [&](const std::string& name) {
    return std::ranges::find(sections, name) != sections.end();
  };
  for (const TomlKey& it : parse_toml(text, file)) {
    if (others == OtherKeys::ignored && !has_key(keys, it.name)) continue;
    const std::string where = place_text(file, it.position), section = it.name.substr(0, it.name.rfind('.'));
    check_input(it.name != section || !is_section(section),
                "{}: '{}' is a section: write [{}] and its keys below", where, section, section);
    check_input(it.name == section || is_section(section), "{}: unknown section [{}]{}", where,
                excerpt(section), did_you_mean(section, sections));
    if (it.name.ends_with('.')) continue;  // a header
    assign(find_key(it.name, where, keys), it.value, place_text(file, it.value_position),
           given_text(it.value));
  }
}

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  check_input(equals != std::string::npos && equals > 0,
              "--set {}: expected key=value, as in --set model.layers=2", excerpt(text));
  const std::string_view assignment = text;
  return {fmt::format("--set {}", excerpt(text)), std::string(stripped(assignment.substr(0, equals))),
          std::string(stripped(assignment.substr(equals + 1)))};
}

const Key& apply_setting(const Setting& setting, const std::vector<Key>& keys) {
  const Key& key = find_key(setting.key, setting.where, keys);
  const bool quoted = !setting.value.empty() && (setting.value[0] == '"' || setting.value[0] == '\'');
  const bool is_string =
      std::holds_alternative<std::string*>(key.member) || std::holds_alternative<ChoiceMember>(key.member);
  const std::string text = is_string && !quoted ? toml_text(setting.value) : setting.value;
  TomlValue value;
  try {
    check_input(text.find('\n') == std::string::npos, "more than one line");
    value = parse_toml_value(text);
  } catch (const InputError&) {
    throw unexpected(setting.where, key, setting.value);
  }
  assign(key, value, setting.where, setting.value);
  return key;
}

namespace {

struct ValueText {
  template <class Value>
  std::string operator()(const Value* member) const {
    return toml_text(*member);
  }
  std::string operator()(const std::optional<double>* it) const { return toml_text(it->value_or(not_given)); }
  std::string operator()(const ChoiceMember& it) const { return toml_text(it.names[it.get()]); }
};

}  // namespace

std::string value_text(const Key& key) { return std::visit(ValueText{}, key.member); }

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

std::string default_text(const Key& key, const std::vector<Key>& defaults) {
  return value_text(find_key(key.name, "defaults", defaults));
}

std::string list_keys(const std::vector<Key>& keys, const std::vector<Key>& defaults) {
  std::string text;
  for (const Key& key : keys) {
    const std::string value = value_text(key), standard = default_text(key, defaults);
    text += fmt::format("{} = {}{}\n    {}{}; {}\n", key.name, value,
                        value == standard ? "" : fmt::format("  # default {}", standard), accepted_text(key),
                        key.unit.empty() ? "" : fmt::format(" ({})", key.unit), key.doc);
  }
  return text;
}

}  // namespace rondo
