// Sink: where the gradient of one value is collected during backward. It takes whole tensors, regions (slices
// write straight into their parent's sink), rows by index (embeddings), and products: the pair (dz, h) of a
// weight used at every time step is kept and multiplied once, dW += dZ^T H over all steps, when the sink is
// flushed. So is, on a GPU, what each row contributes to the gradient of a vector that is repeated for all
// rows: it is added up over the steps, row by row, and over the rows once. The graph: autograd/variable.h.
// Next: autograd/engine.cpp.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rondo {

class Sink {
 public:
  Sink() = default;
  /// The sink of a value of this shape.
  Sink(Shape shape, Device device) : shape_(shape), device_(device) {}
  /// The bound sink of a parameter: contributions are added to `gradient`, which outlives it; begin() changes
  /// this.
  explicit Sink(Tensor gradient)
      : shape_(gradient.shape()), device_(gradient.device()), gradient_(gradient), bound_(true) {
    written_ = {whole()};
  }

  Region whole() const { return {0, shape_.rows(), 0, shape_.columns()}; }
  const Shape& shape() const { return shape_; }
  Device device() const { return device_; }

  /// Where to write the gradient of a region, and whether to add to the present value.
  struct Destination {
    Tensor tensor;
    bool accumulate;
  };
  Destination destination(const Region& region);
  /// The operands of `after = before + contribution`; `before` undefined means zero, and it may be `after`
  /// itself.
  struct Sum {
    Tensor before, after;
  };
  Sum sum(const Region& region);
  /// Adds g [region.rows, region.columns].
  void add(const Tensor& g, const Region& region);
  /// Whether add() would store g without a copy: the sink is empty, or g continues the stored block.
  bool keeps(const Tensor& g, const Region& region) const;
  /// Adds factor [1] * g; for a parameter in one pass. Overwrites g if nobody else uses its memory.
  void add_scaled(Tensor g, const Tensor& factor, const Region& region);
  /// Adds left^T right: at once if it is large, else when flushed, in one product with others of its region.
  void add_product(const Tensor& left, const Tensor& right, const Region& region);
  /// Where to write, or add, what each of so many rows contributes to a region of one row; flush() adds the
  /// sums of the columns. Calls for one region get the first rows of the same memory, if it has so many.
  Destination contributions(const Region& region, int64_t rows);
  /// Adds the sums of the columns of g to a region of one row.
  void add_column_sums(const Tensor& g, const Region& region);
  /// Adds g[i] to row rows[i] of the region for every i, in order.
  void add_rows(const Tokens& rows, const Tensor& g, const Region& region);

  /// The gradient, complete; undefined if there was no contribution. Leaves an unbound sink empty.
  Tensor flush();
  /// Bound sink only. Marks the gradient as zero without writing it: the first contribution to a region
  /// overwrites it.
  void begin() { written_.clear(); }
  /// Bound sink only. Sets to zero what no contribution has written since begin().
  void complete() { fill_gaps(); }
  /// Discards the contributions since the last flush, except those already added to a bound gradient.
  void discard();

 private:
  struct Piece {
    Tensor tensor;
    Region region;
  };
  struct Product {
    Tensor left, right;  // [n, region.rows], [n, region.columns]
    Region region;
  };
  void own();
  void fill_gaps();
  bool pieces_cover_whole() const;
  Tensor whole_of_pieces() const;
  void multiply_products();
  void multiply(const Region& region, const Tensor& left, const Tensor& right);

  Shape shape_;
  Device device_ = Device::cpu;
  std::vector<Piece> pieces_;         // contributions whose memory others may use, too; no two overlap
  Tensor gradient_;                   // writable; undefined while there are only pieces
  std::vector<Region> written_;       // the parts of it that hold values; no two overlap
  std::vector<Piece> contributions_;  // to regions of one row, by rows
  std::vector<Product> products_;
  int64_t product_elements_ = 0;
  bool bound_ = false;  // whether gradient_ outlives flush()
};

}  // namespace rondo
