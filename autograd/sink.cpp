// Sink: collecting contributions, and the one product for all time steps.
#include "autograd/sink.h"

#include <algorithm>

#include "tensor/gemm.h"

namespace rondo {
namespace {

constexpr int64_t large_rows = 512;                          // a product this tall gains nothing from waiting
constexpr int64_t most_product_elements = int64_t{1} << 24;  // what waits is bounded: 64 MiB of floats

Tensor part(const Tensor& whole, const Region& region) {
  return whole.row_range(region.row, region.row + region.rows)
      .column_block(region.column, region.column + region.columns);
}

/// Tensors as one: a view where they lie behind one another in memory, else a copy.
Tensor stacked(const std::vector<Tensor>& parts) {
  int64_t rows = 0;
  bool adjacent = true;
  for (const Tensor& x : parts) {
    adjacent &= x.shares_storage(parts[0]) && x.row_stride() == parts[0].row_stride() &&
                x.offset() == parts[0].offset() + rows * x.row_stride();
    rows += x.rows();
  }
  if (adjacent) return parts[0].extended_rows(rows);
  const Tensor all({rows, parts[0].columns()}, parts[0].device());
  int64_t row = 0;
  for (const Tensor& x : parts) {
    copy(x, all.row_range(row, row + x.rows()));
    row += x.rows();
  }
  return all;
}

}  // namespace

/// Makes the gradient ours to write: allocated, or copied from a tensor that others hold.
void Sink::own() {
  if (owned_) return;
  if (!gradient_.defined())
    gradient_ = Tensor(shape_, device_);
  else if (gradient_.holders() > 1)
    gradient_ = clone(gradient_);
  owned_ = true;  // from now on more holders are those of destinations that we gave out
}

/// Zeroes what no contribution has written, band of rows by band of rows.
void Sink::fill_gaps() {
  int64_t covered = 0;
  for (const Region& region : written_) covered += region.size();
  if (covered == shape_.size()) return;
  std::vector<int64_t> edges = {0, shape_.rows()};
  for (const Region& region : written_) edges.insert(edges.end(), {region.row, region.row + region.rows});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::sort(written_.begin(), written_.end(),
            [](const Region& a, const Region& b) { return a.column < b.column; });
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const int64_t row = edges[i], rows = edges[i + 1] - row;
    int64_t column = 0;
    auto zero_until = [&](int64_t end) {
      if (end > column) fill(part(gradient_, {row, rows, column, end - column}), 0);
    };
    for (const Region& region : written_) {
      if (!region.overlaps({row, rows, region.column, region.columns})) continue;
      zero_until(region.column);
      column = region.column + region.columns;
    }
    zero_until(shape_.columns());
  }
  written_ = {whole()};
}

Sink::Destination Sink::destination(const Region& region) {
  own();
  bool accumulate = false;
  for (const Region& other : written_) {
    if (!other.overlaps(region)) continue;
    accumulate = true;
    if (!other.contains(region)) fill_gaps();
    break;
  }
  if (!accumulate) written_.push_back(region);
  return {part(gradient_, region), accumulate};
}

void Sink::add(const Tensor& g, const Region& region) {
  check(g.rows() == region.rows && g.columns() == region.columns,
        "[backward] a gradient {} does not fit [{}, {}]", g.shape(), region.rows, region.columns);
  if (!gradient_.defined() && region == whole()) {
    gradient_ = g.reshaped(shape_);
    written_ = {whole()};
    return;
  }
  const Destination to = destination(region);
  if (to.accumulate)
    accumulate(g, to.tensor);
  else
    copy(g, to.tensor);
}

void Sink::add_scaled(Tensor g, real factor, const Region& region) {
  if (bound_) return rondo::accumulate(g, part(gradient_, region), factor);
  if (factor != 1) {
    if (g.holders() > 1) g = clone(g);
    scale(g, factor);
  }
  add(g, region);
}

void Sink::multiply(const Region& region, const Tensor& left, const Tensor& right) {
  const Destination to = destination(region);
  gemm(left, Transpose::yes, right, Transpose::no, to.accumulate ? 1 : 0, to.tensor);
}

void Sink::add_product(const Tensor& left, const Tensor& right, const Region& region) {
  if (left.rows() >= large_rows) return multiply(region, left, right);
  products_.push_back({left, right, region});
  product_elements_ += left.size() + right.size();
  if (product_elements_ > most_product_elements) multiply_products();
}

/// One GEMM per region. Pairs come last step first; they are stacked in the order of time.
void Sink::multiply_products() {
  std::vector<Product> products;
  products.swap(products_);
  product_elements_ = 0;
  std::reverse(products.begin(), products.end());
  while (!products.empty()) {
    const Region region = products.front().region;
    std::vector<Tensor> left, right;
    for (const Product& product : products) {
      if (product.region != region) continue;
      left.push_back(product.left);
      right.push_back(product.right);
    }
    std::erase_if(products, [&](const Product& product) { return product.region == region; });
    multiply(region, stacked(left), stacked(right));
  }
}

void Sink::add_rows(const Tokens& rows, const Tensor& g) {
  own();
  fill_gaps();
  accumulate_rows(g, *rows, gradient_);
}

Tensor Sink::flush() {
  multiply_products();
  if (!gradient_.defined()) return {};
  fill_gaps();
  Tensor result = gradient_;
  discard();
  return result;
}

void Sink::discard() {
  products_.clear();
  product_elements_ = 0;
  if (bound_) return;
  gradient_ = {};
  owned_ = false;
  written_.clear();
}

}  // namespace rondo
