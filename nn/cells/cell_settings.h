// The settings of cells: each family has a plain struct of its own beside its equations, with a table of keys
// (tensor/keys.h). CellSettings holds one struct of each type without depending on any of them. Next:
// nn/cells/cell.h.
#pragma once

#include <any>
#include <deque>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include "tensor/keys.h"

namespace rondo {

/// One struct of each kind; a kind that was never set has its struct's defaults.
class CellSettings {
 public:
  template <class Settings>
  const Settings& get() const {
    static const Settings defaults;
    for (const auto& [type, value] : all_)
      if (type == typeid(Settings)) return std::any_cast<const Settings&>(value);
    return defaults;
  }
  /// For assignment: settings.of<ForgetGateSettings>().forget_bias = 1.
  template <class Settings>
  Settings& of() {
    for (auto& [type, value] : all_)
      if (type == typeid(Settings)) return std::any_cast<Settings&>(value);
    return std::any_cast<Settings&>(all_.emplace_back(typeid(Settings), Settings()).second);
  }

 private:
  std::deque<std::pair<std::type_index, std::any>> all_;  // a deque: keys hold addresses of the members
};

/// A kind of settings, accessed through its keys only.
struct SettingsKind {
  std::type_index type;
  Keys (*keys)(CellSettings&);
};

/// What a cell declares as `using Settings = SettingsOf<...>`, and the settings of several parts of a cell
/// together.
template <class... Settings>
using SettingsOf = std::tuple<Settings...>;
template <class... Parts>
using SettingsOfParts = decltype(std::tuple_cat(std::declval<typename Parts::Settings>()...));

/// The kinds of settings of a cell; empty if it declares none.
template <class Cell>
std::vector<SettingsKind> kinds_of() {
  if constexpr (requires { typename Cell::Settings; })
    return []<class... Settings>(const std::tuple<Settings...>*) {
      return std::vector<SettingsKind>{
          {typeid(Settings), [](CellSettings& settings) { return keys_of(settings.of<Settings>()); }}...};
    }(static_cast<const typename Cell::Settings*>(nullptr));
  else
    return {};
}

}  // namespace rondo
