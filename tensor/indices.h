// Row numbers and token ids: on the host, where they are checked, and on each device whose kernels have asked
// for them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tensor/backend.h"

namespace rondo {

/// Rows by index, sorted: segment s is order[starts[s]], ..., order[starts[s + 1] - 1], in order, and all
/// of it has one index, rows[order[starts[s]]]. There are as many segments as indices; the last may be empty.
struct SortedRows {
  const int32_t *rows, *order, *starts;
};

class Indices {
 public:
  Indices() = default;
  Indices(std::vector<int32_t> values) : values_(std::move(values)) {}  // not explicit: these are the values
  Indices(std::initializer_list<int32_t> values) : values_(values) {}
  /// On the GPU they lie, or will when a kernel runs, at `on_gpu` as to_device_layout() has them.
  Indices(std::vector<int32_t> values, const int32_t* on_gpu) : values_(std::move(values)), placed_(on_gpu) {}

  /// On the host.
  const std::vector<int32_t>& values() const { return values_; }
  std::size_t size() const { return values_.size(); }
  int32_t operator[](std::size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// For a kernel of that device; copied there by the first call.
  const int32_t* on(Device device) const;
  SortedRows sorted(Device device) const;

  /// Numbers in the layout of so many indices: themselves, their order, the starts of the segments.
  static std::size_t layout_size(std::size_t count) { return 3 * count + 1; }
  /// Writes layout_size(values.size()) numbers.
  static void to_device_layout(const std::vector<int32_t>& values, int32_t* to);

 private:
  const int32_t* layout(Device device) const;

  std::vector<int32_t> values_;
  const int32_t* placed_ = nullptr;
  mutable std::vector<int32_t> on_cpu_;  // the layout, once segments have been asked for
  mutable std::shared_ptr<int32_t> on_gpu_;
};

/// Token ids, or numbers of rows, shared between a graph and its caller.
using Tokens = std::shared_ptr<const Indices>;

}  // namespace rondo
