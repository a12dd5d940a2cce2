// Row numbers, token ids and marks of rows: on the host, where they are checked, and on each device whose
// kernels have needed them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/backend.h"

namespace rondo {

/// Positions sorted by row number: segment s is order[starts[s]], ..., order[starts[s + 1] - 1], ascending,
/// and all its positions have one row number, rows[order[starts[s]]]. There are as many segments as indices;
/// the last ones may be empty.
struct SortedRows {
  const int32_t *rows, *order, *starts;
};

class Indices {
 public:
  Indices() = default;
  Indices(std::vector<int32_t> values) : values_(std::move(values)) {}  // implicit on purpose
  Indices(std::initializer_list<int32_t> values) : values_(values) {}
  /// Values that lie on the GPU at `on_gpu`, or will lie there when a kernel runs, in the layout of
  /// to_device_layout(). They may change where a graph that reads them there is replayed.
  Indices(std::vector<int32_t> values, const int32_t* on_gpu, bool may_change)
      : values_(std::move(values)), placed_(on_gpu), may_change_(may_change) {}

  /// Whether kernels may find other values in a replay, so that launches must not depend on them.
  bool may_change() const { return may_change_; }
  /// On the host.
  const std::vector<int32_t>& values() const { return values_; }
  std::size_t size() const { return values_.size(); }
  int32_t operator[](std::size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// For a kernel of that device; the first call for the GPU copies them there.
  const int32_t* on(Device device) const;
  SortedRows sorted_on(Device gpu) const;

  /// Numbers in the layout of `count` indices on a GPU: the indices, their order, the starts of the segments.
  static std::size_t layout_size(std::size_t count) { return 3 * count + 1; }
  /// Writes layout_size(values.size()) numbers.
  static void to_device_layout(const std::vector<int32_t>& values, int32_t* to);
  /// What lies in such a layout.
  static SortedRows sorted(const int32_t* layout, std::size_t count) {
    return {layout, layout + count, layout + 2 * count};
  }

 private:
  std::vector<int32_t> values_;
  const int32_t* placed_ = nullptr;
  bool may_change_ = false;
  mutable std::shared_ptr<int32_t> on_gpu_, sorted_on_gpu_;
};

/// Throws Error unless each index is in [least, end): "[name] WHAT 7 at 2 is not in [0, 5)".
void check_indices(const char* name, const char* what, const Indices& indices, int64_t least, int64_t end);

/// Token ids, row numbers or marks of rows, shared between a graph and its caller. Null: none; to read it is
/// an Error.
class Tokens {
 public:
  Tokens(std::shared_ptr<const Indices> indices = nullptr) : indices_(std::move(indices)) {}  // implicit
  const Indices& operator*() const { return indices_ ? *indices_ : throw_none(); }
  const Indices* operator->() const { return &**this; }

 private:
  [[noreturn]] static const Indices& throw_none();
  std::shared_ptr<const Indices> indices_;
};

}  // namespace rondo
