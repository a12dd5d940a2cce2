// Sink: collects contributions, and computes the one product for all time steps.
#include "autograd/sink.h"

#include <algorithm>

#include "tensor/products/gemm.h"

namespace rondo {
namespace {

constexpr int64_t large_rows = 512;  // products with more rows gain nothing from being combined
constexpr int64_t max_product_elements = int64_t{1} << 24;  // bound on the pairs that wait: 64 MiB of floats

Tensor part(const Tensor& whole, const Region& region) {
  return whole.slice_rows(region.row, region.row + region.rows)
      .slice_columns(region.column, region.column + region.columns);
}

}  // namespace

/// Allocates a gradient that this sink may write, and copies the pieces received so far.
void Sink::own() {
  if (gradient_.defined()) return;
  if (pieces_.size() == 1 && pieces_cover_whole() && pieces_[0].tensor.use_count() == 1) {
    gradient_ = whole_of_pieces();
  } else {
    gradient_ = Tensor::for_products(shape_, device_);
    for (const Piece& piece : pieces_) copy(piece.tensor, part(gradient_, piece.region));
  }
  for (const Piece& piece : pieces_) written_.push_back(piece.region);
  pieces_.clear();
}

bool Sink::pieces_cover_whole() const {
  int64_t covered = 0;
  for (const Piece& piece : pieces_) covered += piece.region.size();
  return covered == shape_.size();
}

/// The view that all pieces together form.
Tensor Sink::whole_of_pieces() const {
  const Piece& first = pieces_[0];
  if (pieces_.size() == 1) return first.tensor.reshaped(shape_);
  return first.tensor.parent_view(shape_, first.region.row, first.region.column);
}

/// Sets to zero what no contribution has written, one band of rows after another.
void Sink::fill_gaps() {
  int64_t covered = 0;
  for (const Region& region : written_) covered += region.size();
  if (covered == shape_.size()) {
    written_ = {whole()};
    return;
  }
  std::vector<int64_t> edges = {0, shape_.rows()};
  for (const Region& region : written_) edges.insert(edges.end(), {region.row, region.row + region.rows});
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::ranges::sort(written_, {}, &Region::column);
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

Sink::Sum Sink::sum(const Region& region) {
  if (region == whole() && pieces_.size() == 1 && pieces_cover_whole() && pieces_[0].tensor.use_count() > 1) {
    const Tensor before = pieces_[0].tensor;  // avoids a copy that would be overwritten
    pieces_.clear();
    return {before, destination(region).tensor};
  }
  const Destination to = destination(region);
  return {to.accumulate ? to.tensor : Tensor(), to.tensor};
}

bool Sink::keeps(const Tensor& g, const Region& region) const {
  if (gradient_.defined()) return false;
  for (const Piece& piece : pieces_)
    if (piece.region.overlaps(region)) return false;
  return pieces_.empty() || is_at_offset(pieces_[0].tensor, g, region.row - pieces_[0].region.row,
                                         region.column - pieces_[0].region.column);
}

void Sink::add(const Tensor& g, const Region& region) {
  check(g.rows() == region.rows && g.columns() == region.columns,
        "[backward] a gradient {} does not fit [{}, {}]", g.shape(), region.rows, region.columns);
  if (keeps(g, region)) {
    pieces_.push_back({g, region});
    return;
  }
  const Destination to = destination(region);
  if (to.accumulate)
    accumulate(g, to.tensor);
  else
    copy(g, to.tensor);
}

void Sink::add_scaled(Tensor g, const Tensor& factor, const Region& region) {
  if (bound_) {
    const Destination to = destination(region);
    return to.accumulate ? rondo::accumulate(g, to.tensor, factor) : copy_scaled(g, to.tensor, factor);
  }
  const bool is_one = !is_gpu(factor.device()) && factor.item() == 1;  // do not wait for a GPU
  if (!is_one) {
    if (g.use_count() > 1) g = clone(g);
    copy_scaled(g, g, factor);
  }
  add(g, region);
}

void Sink::multiply(const Region& region, const Tensor& left, const Tensor& right) {
  const Destination to = destination(region);
  gemm(left, Transpose::yes, right, Transpose::no, to.accumulate, to.tensor);
}

void Sink::add_product(const Tensor& left, const Tensor& right, const Region& region) {
  if (left.rows() >= large_rows) return multiply(region, left, right);
  products_.push_back({left, right, region});
  product_elements_ += left.size() + right.size();
  if (product_elements_ > max_product_elements) multiply_products();
}

/// One GEMM per region. Pairs arrive last step first; they are stacked in order of time.
void Sink::multiply_products() {
  std::vector<Product> products;
  products.swap(products_);
  product_elements_ = 0;
  std::ranges::reverse(products);
  while (!products.empty()) {
    const Region region = products.front().region;
    std::vector<Tensor> left, right;
    for (const Product& product : products) {
      if (product.region != region) continue;
      left.push_back(product.left);
      right.push_back(product.right);
    }
    std::erase_if(products, [&](const Product& product) { return product.region == region; });
    multiply(region, stacked_rows(left), stacked_rows(right));
  }
}

Sink::Destination Sink::contributions(const Region& region, int64_t rows) {
  int64_t height = rows;
  for (const Piece& known : contributions_) {
    if (known.region != region) continue;
    if (known.tensor.rows() >= rows) return {known.tensor.slice_rows(0, rows), true};
    height = std::max(height, 2 * known.tensor.rows());  // backward, packed steps have more and more rows
  }
  const Tensor made({height, region.columns}, device_);
  if (height > rows) fill(made, 0);
  contributions_.push_back({made, region});
  return {made.slice_rows(0, rows), height > rows};
}

void Sink::add_column_sums(const Tensor& g, const Region& region) {
  const Destination to = destination(region);
  column_sums(g, to.tensor, to.accumulate);
}

void Sink::add_rows(const Tokens& rows, const Tensor& g, const Region& region) {
  own();
  fill_gaps();
  accumulate_rows(g, *rows, part(gradient_, region));
}

Tensor Sink::flush() {
  multiply_products();
  for (const Piece& it : contributions_) add_column_sums(it.tensor, it.region);
  contributions_.clear();
  if (!gradient_.defined() && pieces_.empty()) return {};
  const bool is_view = !gradient_.defined() && pieces_cover_whole();
  if (!is_view) {
    own();
    fill_gaps();
  }
  const Tensor result = is_view ? whole_of_pieces() : gradient_;
  discard();
  return result;
}

void Sink::discard() {
  contributions_.clear();
  products_.clear();
  product_elements_ = 0;
  pieces_.clear();
  if (bound_) return;
  gradient_ = {};
  written_.clear();
}

}  // namespace rondo
