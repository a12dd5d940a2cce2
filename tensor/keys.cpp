// The limits of keys: what they say, and whether values are within them.
#include "tensor/keys.h"

#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

#include "tensor/error.h"

namespace rondo {
namespace {

std::string range_text(const Limits& limits) {
  if (std::isfinite(limits.min) && std::isfinite(limits.max))
    return fmt::format(", {:.15g} to {}{:.15g}", limits.min, limits.max_included ? "" : "below ", limits.max);
  return std::isfinite(limits.min) ? fmt::format(", at least {:.15g}", limits.min) : "";
}

std::string choices_text(const std::vector<std::string>& names) {
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

struct AcceptedText {
  const Limits& limits;

  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const std::int64_t*) const { return "an integer" + range_text(limits); }
  std::string operator()(const double*) const { return "a number" + range_text(limits); }
  std::string operator()(const std::string*) const {
    if (!limits.choices.empty()) return choices_text(limits.choices);
    return limits.control_characters ? "a string without U+0000" : "a string without control characters";
  }
  std::string operator()(const std::vector<std::int64_t>*) const {
    return fmt::format("a list of integers{}, as in [650, 650]", range_text(limits));
  }
  std::string operator()(const std::vector<double>*) const {
    return fmt::format("a list of numbers{}, as in [0.9, 0.6]", range_text(limits));
  }
  std::string operator()(const std::vector<std::string>*) const {
    return "a list of strings, as in [\"a\", \"b\"]";
  }
  std::string operator()(const std::optional<double>*) const {
    return (*this)(&not_given) + fmt::format(", or {:.15g}", not_given);
  }
  std::string operator()(const ChoiceMember& it) const { return choices_text(it.names); }
};

/// Refuses numbers; strings are read, not computed, and an enum has no value beyond its names.
struct CheckNumbers {
  const Key& key;

  void check_number(double value) const {
    check_input(within(key.limits, value), "{} = {}: expected {}", key.name, value, accepted_text(key));
  }
  template <class Value>
  void operator()(const Value* member) const {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      check_number(static_cast<double>(*member));
  }
  template <class Element>
  void operator()(const std::vector<Element>* member) const {
    for (const Element& element : *member) (*this)(&element);
  }
  void operator()(const std::optional<double>* member) const {
    if (*member) check_number(**member);
  }
  void operator()(const ChoiceMember&) const {}
};

}  // namespace

bool within(const Limits& limits, double value) {
  // What is beyond a float would be infinite in a tensor.
  return std::abs(value) <= std::numeric_limits<float>::max() && value >= limits.min &&
         (limits.max_included ? value <= limits.max : value < limits.max);
}

std::string accepted_text(const Key& key) { return std::visit(AcceptedText{key.limits}, key.member); }

void check_limits(const Keys& keys) {
  for (const Key& key : keys) std::visit(CheckNumbers{key}, key.member);
}

}  // namespace rondo
