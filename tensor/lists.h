// Lists of types: operators (tensor/pointwise.h) and kernels (tensor/kernels/kernel.h).
#pragma once

#include <cstddef>
#include <type_traits>

namespace rondo {

/// Several lists as one.
template <template <class...> class List, class... Types>
constexpr List<Types...> joined_lists(List<Types...>) {
  return {};
}
template <template <class...> class List, class... First, class... Second, class... Rest>
constexpr auto joined_lists(List<First...>, List<Second...>, Rest... rest) {
  return joined_lists(List<First..., Second...>{}, rest...);
}
template <class... Lists>
using JoinedLists = decltype(joined_lists(Lists{}...));

template <template <class...> class List, class... Types>
constexpr std::size_t length_of(List<Types...>) {
  return sizeof...(Types);
}

/// The position of a type in a list; the list's length if it is not there.
template <class Type, template <class...> class List, class... Types>
constexpr std::size_t position_in(List<Types...>) {
  std::size_t position = 0;
  static_cast<void>(((std::is_same_v<Type, Types> || (++position, false)) || ...));
  return position;
}

}  // namespace rondo
