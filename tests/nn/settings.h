// Members of options, set by the names of their keys (tensor/keys.h), as recipes set them; so that a test of
// many options has a line for each.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tensor/error.h"
#include "tensor/keys.h"

namespace rondo {

struct AssignText {
  const std::string& value;
  void operator()(const ChoiceMember& it) const {
    const auto name = std::ranges::find(it.names, value);
    if (name == it.names.end()) throw Error("no choice is named " + value);
    it.set(static_cast<std::size_t>(name - it.names.begin()));
  }
  void operator()(std::string* it) const { *it = value; }
  void operator()(std::optional<double>* it) const { *it = nlohmann::json::parse(value).get<double>(); }
  template <class Value>
  void operator()(Value* it) const {
    *it = nlohmann::json::parse(value).get<Value>();
  }
};

/// set(options, "cell=gru hidden=[4,5] tied=true").
template <class Options>
void set(Options& options, const std::string& settings) {
  const Keys keys = keys_of(options);
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('=')), value = word.substr(name.size() + 1);
    const auto key = std::ranges::find(keys, name, &Key::name);
    if (key == keys.end()) throw Error("no option is named " + name);
    std::visit(AssignText{value}, key->member);
  }
}

}  // namespace rondo
