// Tensor: memory, views and plain arithmetic. The loops are in tensor/kernels/arithmetic.h.
#include "tensor/tensor.h"

#include <algorithm>
#include <cmath>

#include "cuda/runtime.h"
#include "tensor/allocator.h"
#include "tensor/kernels/kernels.h"
#include "tensor/pointwise.h"

namespace rondo {

// The only places where a device is chosen; here, because it is a tensor that has a device. The launchers of
// a meta device do nothing.
const KernelLaunchers& kernel_launchers(Device device) {
  static constexpr KernelLaunchers of_nothing = [] {
    KernelLaunchers all{};
    all.fill([](const void*, Extent) {});
    return all;
  }();
  if (!has_memory(device)) return of_nothing;
#ifdef RONDO_CUDA
  if (device == Device::cuda) return cuda::kernel_launchers;
#endif
  check(device == Device::cpu, "[device] {}; use --device cpu", cuda::unavailable());
  return cpu::kernel_launchers;
}

const PointwiseLaunchers& PointwiseOperator::launchers(Device device) const {
  static constexpr PointwiseLaunchers of_nothing{
      [](const void*, Extent, const Operand*, const Operand*) {},
      [](const void*, Extent, const Operand*, const Operand*, const Operand*, const bool*) {},
      [](const void*, std::span<const int64_t>, int64_t, const Operand*, const Operand*) {},
      [](const void*, std::span<const int64_t>, int64_t, const Operand*, const Operand*, const Operand*,
         const Operand*, const bool*) {}};
  if (!has_memory(device)) return of_nothing;
  const PointwiseLaunchers& chosen = device == Device::cpu ? cpu : cuda;
  check(chosen.forward != nullptr, "[{}] was not built for this device", name);
  return chosen;
}

const char* name_of(Device device) {
  constexpr const char* names[] = {"cpu", "cuda", "meta", "meta_gpu"};
  return names[static_cast<size_t>(device)];
}

Storage::Storage(Device where, int64_t count)
    : device(where),
      size(count),
      data(static_cast<real*>(allocate(where, count * sizeof(real)))),
      of_step(StepMemory::exists(where)) {}
Storage::Storage(std::shared_ptr<Storage> of, real* first, int64_t count)
    : device(of->device), size(count), data(first), whole(std::move(of)), of_step(whole->of_step) {
  ++whole->parts;
}
Storage::~Storage() {
  if (whole)
    --whole->parts;
  else
    release(device, data, size * sizeof(real));
}

bool rows_clash(int64_t rows, int64_t row_stride) {
  constexpr int64_t lines_of_a_set = 8, same_sets = 2048 / sizeof(real);
  return rows > lines_of_a_set && row_stride > 0 && row_stride % same_sets == 0;
}

int64_t aligned_row_stride(const Shape& shape) {
  constexpr int64_t alignment = 16 / sizeof(real);
  const int64_t columns = shape.columns();
  if (shape.rows() <= 1 || columns <= 1) return columns;
  return (columns + alignment - 1) / alignment * alignment;
}

Tensor::Tensor(Shape shape, Device device, int64_t row_stride)
    : storage_(std::make_shared<Storage>(device, shape.rows() * row_stride)),
      shape_(shape),
      row_stride_(row_stride),
      pads_(row_stride > shape.columns()) {}

Tensor::Tensor(Shape shape, Device device)
    : Tensor(shape, device, is_gpu(device) ? aligned_row_stride(shape) : shape.columns()) {}

Tensor Tensor::for_products(Shape shape, Device device) {
  constexpr int64_t line = 64 / sizeof(real);
  const int64_t gap = !is_gpu(device) && rows_clash(shape.rows(), shape.columns()) ? line : 0;
  const Tensor it = is_gpu(device) ? Tensor(shape, device) : Tensor(shape, device, shape.columns() + gap);
  it.storage().for_products = true;
  return it;
}

Tensor Tensor::dense(Shape shape, Device device) { return {shape, device, shape.columns()}; }

Tensor Tensor::filled(Shape shape, real value, Device device) {
  Tensor tensor(shape, device);
  fill(tensor, value);
  tensor.storage_->zero_pads = value == 0 && tensor.contiguous();  // for as_strided()
  return tensor;
}

Tensor Tensor::from(const std::vector<real>& values, Shape shape, Device device) {
  check(static_cast<int64_t>(values.size()) == shape.size(), "[tensor] {} values do not fill {}",
        values.size(), shape);
  Tensor tensor(shape, device);
  tensor.set(values.data());
  return tensor;
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  check(shape_.dimensions() >= 1 && 0 <= begin && begin <= end && end <= shape_[0],
        "[slice] [{}, {}) does not lie within {}", begin, end, shape_);
  Tensor view = *this;
  view.shape_ = shape_.with_first(end - begin);
  const int64_t inner_rows = shape_.dimensions() > 1 ? shape_.without_first().rows() : 0;
  view.offset_ += shape_.dimensions() > 1 ? begin * inner_rows * row_stride_ : begin;
  if (shape_.dimensions() == 1) {
    view.row_stride_ = end - begin;
    view.pads_ = false;
  }
  return view;
}

Tensor Tensor::operator[](int64_t i) const {
  check(shape_.dimensions() >= 2, "[index] needs two dimensions or more, got {}", shape_);
  Tensor view = slice(i, i + 1);
  view.shape_ = shape_.without_first();
  return view;
}

Tensor Tensor::slice_rows(int64_t begin, int64_t end) const {
  check(0 <= begin && begin <= end && end <= rows(),
        "[slice_rows] [{}, {}) does not lie within the {} rows of {}", begin, end, rows(), shape_);
  Tensor view = *this;
  view.shape_ = {end - begin, columns()};
  view.offset_ += begin * row_stride_;
  return view;
}

Tensor Tensor::as_strided(int64_t begin, Shape shape, int64_t row_stride) const {
  check(shape_.dimensions() == 1 && begin >= 0 && row_stride >= shape.columns() &&
            begin <= size() - Shape{shape.rows(), row_stride}.size(),
        "[as_strided] {} from {} on, rows {} apart, does not lie within {}", shape, begin, row_stride,
        shape_);
  Tensor view = *this;
  view.shape_ = shape;
  view.offset_ += begin;
  view.row_stride_ = row_stride;
  view.pads_ = row_stride > shape.columns() && size() == memory().size && memory().zero_pads;
  return view;
}

Tensor Tensor::parent_view(Shape shape, int64_t rows, int64_t columns) const {
  Tensor view = *this;
  view.shape_ = shape;
  view.pads_ = pads_ && columns == 0 && shape.columns() == this->columns();
  view.offset_ -= Shape{rows, row_stride_}.size() + columns;
  const int64_t extent = Shape{shape.rows(), row_stride_}.size() - row_stride_ + shape.columns();
  const auto fits = [&] { return view.offset_ >= 0 && extent <= view.storage().size - view.offset_; };
  while (!fits() && view.storage_->whole) {  // beyond this part
    view.offset_ += view.storage_->data - view.storage_->whole->data;
    view.storage_ = view.storage_->whole;
  }
  check(fits() && (shape.rows() <= 1 || shape.columns() <= row_stride_),
        "[parent_view] {} leaves the memory around {}", shape, shape_);
  return view;
}

Tensor Tensor::as_part() const {
  Tensor part = *this;
  const int64_t count = size() == 0 ? 0 : (rows() - 1) * row_stride_ + columns();
  part.storage_ = std::make_shared<Storage>(storage_, storage().data + offset_, count);
  part.offset_ = 0;
  return part;
}

Tensor Tensor::slice_columns(int64_t begin, int64_t end) const {
  check(0 <= begin && begin <= end && end <= columns(),
        "[slice_columns] [{}, {}) does not lie within the columns of {}", begin, end, shape_);
  Tensor view = *this;
  view.shape_ = shape_.with_columns(end - begin);
  view.offset_ += begin;
  view.pads_ = pads_ && begin == 0 && end == columns();
  return view;
}

Tensor Tensor::reshaped(Shape shape) const {
  check(shape.size() == size(), "[reshape] {} elements do not fill {}", shape_, shape);
  check(shape.columns() == columns() || contiguous(),
        "[reshape] {} with rows {} apart cannot become {}; copy it first", shape_, row_stride_, shape);
  Tensor view = *this;
  view.shape_ = shape;
  if (shape.columns() != columns()) {
    view.row_stride_ = shape.columns();
    view.pads_ = false;
  }
  return view;
}

real Tensor::item() const {
  check(size() == 1, "[item] needs exactly one element, got {}", shape_);
  return to_vector()[0];
}

std::vector<real> Tensor::to_vector() const {
  const Tensor flat = rondo::contiguous(*this);
  if (!has_memory(device())) return std::vector<real>(static_cast<size_t>(size()));
  if (device() == Device::cpu) return {flat.data(), flat.data() + flat.size()};
  std::vector<real> values(static_cast<size_t>(size()));
  cuda::download(values.data(), flat.data(), values.size() * sizeof(real));
  return values;
}

void Tensor::set(const real* values) const {
  if (!contiguous()) {
    const Tensor side_by_side = dense(shape_, device());
    side_by_side.set(values);
    return copy(side_by_side, *this);
  }
  if (device() == Device::cpu)
    std::copy(values, values + size(), mutable_data());
  else if (device() == Device::cuda)
    cuda::upload(mutable_data(), values, static_cast<size_t>(size()) * sizeof(real));
}

Tensor Tensor::to(Device device) const {
  if (device == this->device()) return *this;
  return from(to_vector(), shape_, device);
}

int64_t zero_padded_columns(const Tensor& x) {
  if (!x.pads_) return x.columns();
  Storage* memory = x.storage_.get();
  while (memory->whole) memory = memory->whole.get();
  if (!memory->zero_pads) {  // rows of x, and perhaps others of the same width: all of them, once
    const int64_t stride = x.row_stride(), columns = x.columns();
    const cuda::LaunchBetween between;
    cuda::note_access(memory->data, memory->size * sizeof(real), true);
    launch(x.device(), {memory->size / stride, stride - columns}, Fill{{memory->data + columns, stride}, 0});
    memory->zero_pads = true;
  }
  return x.row_stride();
}

bool is_at_offset(const Tensor& a, const Tensor& b, int64_t rows, int64_t columns) {
  return a.shares_memory(b) && a.row_stride() == b.row_stride() &&
         b.address() - a.address() == rows * a.row_stride() + columns;
}

Tensor stacked_rows(const std::vector<Tensor>& parts) {
  check(!parts.empty(), "[stacked_rows] needs at least one part");
  int64_t rows = 0;
  bool in_sequence = true;
  for (const Tensor& x : parts) {
    in_sequence &= is_at_offset(parts[0], x, rows, 0);
    rows += x.rows();
  }
  const Shape shape{rows, parts[0].columns()};
  if (in_sequence) return parts[0].parent_view(shape);
  const Tensor all(shape, parts[0].device());
  int64_t row = 0;
  for (const Tensor& x : parts) {
    copy(x, all.slice_rows(row, row + x.rows()));
    row += x.rows();
  }
  return all;
}

namespace {
void check_same(const char* name, const Tensor& a, const Tensor& b) {
  check(a.rows() == b.rows() && a.columns() == b.columns(), "[{}] needs equal matrices, got {} and {}", name,
        a.shape(), b.shape());
}
}  // namespace

void fill(const Tensor& to, real value) { launch(to.device(), to.extent(), Fill{to.write_operand(), value}); }

void copy(const Tensor& from, const Tensor& to) {
  check_same("copy", from, to);
  if (from.device() != to.device()) return to.set(from.to_vector().data());
  launch(to.device(), to.extent(), Copy{from.read_operand(), to.write_operand()});
}

Tensor clone(const Tensor& x) {
  Tensor y(x.shape(), x.device());
  copy(x, y);
  return y;
}

Tensor contiguous(const Tensor& x) {
  if (x.contiguous()) return x;
  const Tensor y = Tensor::dense(x.shape(), x.device());
  copy(x, y);
  return y;
}

void accumulate(const Tensor& x, const Tensor& to, real factor) {
  check_same("accumulate", x, to);
  check_one_device("accumulate", to, x);
  launch(to.device(), to.extent(), Accumulate{x.read_operand(), to.write_operand(), factor});
}
void accumulate(const Tensor& x, const Tensor& to, const Tensor& factor) {
  check_same("accumulate", x, to);
  check_one_device("accumulate", to, x, factor);
  launch(to.device(), to.extent(),
         Accumulate{x.read_operand(), to.write_operand(), Deferred<real>::found_at(factor.data())});
}

void scale(const Tensor& to, real factor) {
  launch(to.device(), to.extent(), Scale{to.read_operand(), to.write_operand(), factor});
}
void copy_scaled(const Tensor& x, const Tensor& to, const Tensor& factor) {
  check_same("copy_scaled", x, to);
  check_one_device("copy_scaled", to, x, factor);
  launch(to.device(), to.extent(),
         Scale{x.read_operand(), to.write_operand(), Deferred<real>::found_at(factor.data())});
}

void broadcast_rows(const Tensor& x, const Tensor& to, bool add) {
  check(x.rows() == 1 && x.columns() == to.columns(), "[broadcast_rows] needs a vector [{}], got {}",
        to.columns(), x.shape());
  check_one_device("broadcast_rows", to, x);
  const Operand row{x.read_operand().data, 0};
  if (add)
    launch(to.device(), to.extent(), Accumulate{row, to.write_operand(), real(1)});
  else
    launch(to.device(), to.extent(), Copy{row, to.write_operand()});
}

void column_sums(const Tensor& x, const Tensor& to, bool add) {
  check(to.size() == x.columns() && to.rows() == 1, "[column_sums] needs a vector [{}], got {}", x.columns(),
        to.shape());
  check_one_device("column_sums", to, x);
  const auto sums = [&](const Tensor& of, int64_t height, const Tensor& into, bool adds) {
    launch(to.device(), into.extent(),
           ColumnSums{of.read_operand(), of.rows(), height, adds, into.write_operand()});
  };
  // A GPU has more threads than there are columns: sum blocks of rows first, then add their sums.
  constexpr int64_t height = 64;
  if (!is_gpu(to.device()) || x.rows() <= 2 * height) return sums(x, std::max<int64_t>(1, x.rows()), to, add);
  const Tensor blocks({(x.rows() + height - 1) / height, x.columns()}, to.device());
  sums(x, height, blocks, false);
  sums(blocks, blocks.rows(), to, add);
}

namespace {
/// `least` is 0, or -1 for no row.
void check_rows(const char* name, const Tensor& table, const Indices& rows, int32_t least,
                const Tensor& some) {
  check_one_device(name, some, table);
  check(some.rows() == std::ssize(rows) && some.columns() == table.columns(),
        "[{}] {} rows of {} do not fit {}", name, rows.size(), table.shape(), some.shape());
  check_indices(name, "row", rows, least, table.rows());
}
}  // namespace

void gather_rows(const Tensor& table, const Indices& rows, const Tensor& to) {
  check_rows("gather_rows", table, rows, -1, to);
  launch(to.device(), to.extent(),
         GatherRows{table.read_operand(), rows.on(to.device()), to.write_operand()});
}

void accumulate_rows(const Tensor& x, const Indices& rows, const Tensor& table) {
  check_rows("accumulate_rows", table, rows, 0, x);
  if (!is_gpu(table.device()))
    return launch(
        table.device(), x.extent(),
        AccumulateRowsInOrder{x.read_operand(), rows.on(table.device()), x.rows(), table.write_operand()});
  launch(table.device(), x.extent(),
         AccumulateRows{x.read_operand(), rows.sorted_on(table.device()), table.write_operand()});
}

Tensor reciprocals(const Indices& counts, Device device) {
  const Tensor to({static_cast<int64_t>(counts.size())}, device);
  launch(device, to.extent(), Reciprocals{counts.on(device), to.mutable_data()});
  return to;
}

namespace {
/// Sums of blocks: sums in float stay short, the rest is added in double. A block of threads of a GPU adds up
/// more, in as many sums as it has threads.
Tensor partial_sums(const Tensor& x, bool squares) {
  const int64_t block = is_gpu(x.device()) ? 16384 : 4096;
  const Tensor flat = contiguous(x), sums({(flat.size() + block - 1) / block}, x.device());
  launch(x.device(), {sums.size(), block},
         PartialSums{flat.data(), flat.size(), squares, sums.mutable_data()});
  return sums;
}
double blocked_sum(const Tensor& x, bool squares) {
  const Tensor partials = partial_sums(x, squares);
  if (!has_memory(x.device())) return 0;  // a meta tensor may have more of them than the host can hold
  double sum = 0;
  for (real partial : partials.to_vector()) sum += partial;
  return sum;
}
Tensor blocked_total(const Tensor& x, bool squares) {
  if (x.size() == 0) return Tensor::zeros({1}, x.device());
  Tensor sums = partial_sums(x, squares);
  while (sums.size() > 1) sums = partial_sums(sums, false);
  return sums;
}
}  // namespace

Tensor sum_on_device(const Tensor& x) {
  if (is_gpu(x.device())) return blocked_total(x, false);
  double total = 0;
  for (const real value : x.to_vector()) total += value;
  return Tensor::filled({1}, static_cast<real>(total), x.device());
}
Tensor sum_of_squares_on_device(const Tensor& x) {
  if (is_gpu(x.device())) return blocked_total(x, true);
  return Tensor::filled({1}, static_cast<real>(sum_of_squares(x)), x.device());
}

double sum(const Tensor& x) { return blocked_sum(x, false); }
double sum_of_squares(const Tensor& x) { return blocked_sum(x, true); }

bool all_finite(const Tensor& x) {
  for (real value : x.to_vector())
    if (!std::isfinite(value)) return false;
  return true;
}

}  // namespace rondo
