// Operators of sequence models. Each defines its backward beside its forward.
#include "autograd/sequence.h"

#include <algorithm>

#include "tensor/kernels/kernels.h"

namespace rondo {

Lengths::Lengths(std::vector<int64_t> lengths, const std::vector<Tokens>& lists, size_t first)
    : Lengths(std::move(lengths)) {
  if (first >= lists.size()) return;
  check(first + 4 <= lists.size() && std::equal(begin(), end(), lists[first]->begin(), lists[first]->end()),
        "[lengths] list {} of {} does not hold the lengths", first, lists.size());
  staged = std::make_shared<StagedLengths>(
      StagedLengths{lists[first], lists[first + 1], lists[first + 2], lists[first + 3]});
}

Tokens Lengths::counts() const { return staged ? staged->counts : tokens({begin(), end()}); }

std::vector<std::vector<int32_t>> staged_lists(const std::vector<int64_t>& lengths, int64_t T) {
  const auto B = static_cast<int32_t>(lengths.size());
  std::vector<int32_t> counts(lengths.begin(), lengths.end()), last, within, reversed;
  for (int32_t t = 0; t < T; ++t)
    for (int32_t b = 0; b < B; ++b) {
      const int32_t length = counts[static_cast<size_t>(b)];
      within.push_back(t < length ? t * B + b : -1);
      reversed.push_back(t < length ? (length - 1 - t) * B + b : -1);
    }
  last.assign(reversed.begin(), reversed.begin() + B);
  return {counts, last, within, reversed};
}

void check_lengths(const char* name, const Lengths& lengths, int64_t rows, int64_t steps) {
  if (lengths.empty()) return;
  check(std::ssize(lengths) == rows, "[{}] {} rows need as many lengths, got {}", name, rows, lengths.size());
  for (const int64_t length : lengths)
    check(0 <= length && length <= steps, "[{}] a length from 0 to {} was expected: {}", name, steps, length);
}

RowMap::RowMap(std::vector<int32_t> from, int64_t rows) {
  std::vector<int32_t> to(static_cast<size_t>(rows), -1);
  for (size_t i = 0; i < from.size(); ++i) {
    const int32_t row = from[i];
    check(-1 <= row && row < rows, "[row map] row {} at {} is not in [-1, {})", row, i, rows);
    if (row < 0) continue;
    int32_t& place = to[static_cast<size_t>(row)];
    check(place < 0, "[row map] row {} goes to {} and to {}", row, place, i);
    place = static_cast<int32_t>(i);
  }
  from_ = tokens(std::move(from)), to_ = tokens(std::move(to));
}

Variable map_rows(const Variable& x, const RowMap& map) {
  check(x.value().rows() == std::ssize(*map.to()), "[map_rows] a map of {} rows does not fit {}",
        map.to()->size(), x.shape());
  const auto mapped = [](const Tensor& rows, const Tokens& from_rows) {
    const Tensor y = Tensor::for_products({std::ssize(*from_rows), rows.columns()}, rows.device());
    gather_rows(rows, *from_rows, y);
    return y;
  };
  return record_unary("map_rows", mapped(x.value(), map.from()), x,
                      [mapped, to = map.to()](const Tensor& dy) { return mapped(dy, to); });
}

RowMap rows_within(const Lengths& lengths, int64_t T, int64_t B) {
  check_lengths("rows_within", lengths, B, T);
  std::vector<int32_t> rows;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t b = 0; b < B; ++b)
      if (lengths.empty() || t < lengths[static_cast<size_t>(b)])
        rows.push_back(static_cast<int32_t>(t * B + b));
  return {std::move(rows), T * B};
}

Variable transpose_first_two(const Variable& x) {
  const int dimensions = x.shape().dimensions();
  check(dimensions == 2 || dimensions == 3, "[transpose_first_two] x is [A, B, W] or [A, B], got {}",
        x.shape());
  const auto transposed = [](const Tensor& from) {
    const bool matrix = from.shape().dimensions() == 2;  // treated as [A, B, 1]
    const int64_t A = from.shape()[0], B = from.shape()[1], W = matrix ? 1 : from.columns();
    const Tensor rows = matrix ? contiguous(from).reshaped({A, B, W}) : from, to({B, A, W}, from.device());
    launch(to.device(), to.extent(), TransposeFirstTwo{rows.read_operand(), A, B, to.write_operand()});
    return matrix ? to.reshaped({B, A}) : to;
  };
  return record_unary("transpose_first_two", transposed(x.value()), x, transposed);
}

namespace {
Tensor repeated(const Tensor& x, int64_t count) {
  const Tensor y = Tensor::dense(x.shape().with_leading(count), x.device());
  broadcast_rows(contiguous(x).reshaped({x.size()}), y.reshaped({count, x.size()}));
  return y;
}
Tensor summed_over_first(const Tensor& x) {
  const Tensor y = Tensor::dense(x.shape().without_first(), x.device());
  column_sums(contiguous(x).reshaped({x.shape()[0], y.size()}), y.reshaped({y.size()}));
  return y;
}
}  // namespace

Variable repeat(const Variable& x, int64_t count) {
  check(count >= 0, "[repeat] a count of 0 or more was expected: {}", count);
  return record_unary("repeat", repeated(x.value(), count), x, summed_over_first);
}

Variable sum_over_first(const Variable& x) {
  check(x.shape().dimensions() >= 2, "[sum_over_first] needs two dimensions or more, got {}", x.shape());
  return record_unary("sum_over_first", summed_over_first(x.value()), x,
                      [count = x.shape()[0]](const Tensor& dy) { return repeated(dy, count); });
}

Variable max_over_first(const Variable& x, const Lengths& lengths) {
  check(x.shape().dimensions() == 3, "[max_over_first] x is [T, B, W], got {}", x.shape());
  const int64_t T = x.shape()[0], B = x.shape()[1];
  check_lengths("max_over_first", lengths, B, T);
  for (const int64_t length : lengths) check(length > 0, "[max_over_first] a length of 0 has no maximum");
  const Tokens steps = (lengths.empty() ? Lengths(static_cast<size_t>(B), T) : lengths).counts();
  const Tensor y(x.shape().without_first(), x.value().device());
  launch(y.device(), y.extent(),
         MaxOverFirst{x.value().read_operand(), steps->on(y.device()), B, y.write_operand()});
  const auto gradient = [x = Saved(x.value()), y = Saved(y), steps, T, B](const Tensor& dy) {
    const Tensor& from = x.get("max_over_first");
    const Tensor dx(from.shape(), from.device()), rest = clone(dy);
    launch(dx.device(), rest.extent(),
           MaxOverFirstBackward{from.read_operand(), y.get("max_over_first").read_operand(),
                                rest.write_operand(), steps->on(dx.device()), T, B, dx.write_operand()});
    return dx;
  };
  return record_unary("max_over_first", y, x, gradient);
}

Variable softmax(const Variable& x, const Lengths& lengths) {
  if (lengths.empty()) return softmax(x);
  const int64_t B = x.shape()[0], S = x.shape().columns();
  check(x.shape().dimensions() >= 2, "[softmax] with lengths x is [B, .., S], got {}", x.shape());
  check_lengths("softmax", lengths, B, S);
  const Tokens counts = lengths.counts();
  const int64_t rows_a_length = std::max<int64_t>(1, x.value().rows() / std::max<int64_t>(1, B));
  const Tensor y(x.shape(), x.value().device());
  launch(y.device(), y.extent(),
         MaskedSoftmax{x.value().read_operand(), counts->on(y.device()), rows_a_length, y.write_operand()});
  return record_unary("softmax", y, x, [y = Saved(y), counts, rows_a_length](const Tensor& dy) {
    const Tensor dx(dy.shape(), dy.device());
    launch(dx.device(), dx.extent(),
           MaskedSoftmaxBackward{y.get("softmax").read_operand(), dy.read_operand(), counts->on(dx.device()),
                                 rows_a_length, dx.write_operand()});
    return dx;
  });
}

}  // namespace rondo
