// Tensor: memory on a device with a shape, an offset and a row stride. Views are ranges of the leading
// dimension and blocks of columns; everything else copies. Gradients: autograd/variable.h.
#pragma once

#include <memory>
#include <vector>

#include "cuda/accesses.h"
#include "tensor/backend.h"
#include "tensor/indices.h"
#include "tensor/shape.h"

namespace rondo {

struct Pack;  // tensor/products/packing.cpp
struct Twin;  // tensor/products/packing.cpp

/// The memory of tensors. `version` increases with every write, so that a saved tensor can detect a change.
struct Storage {
  Storage(Device where, int64_t count);
  /// `count` elements of another storage's memory, starting at `first`, with its own version and reference
  /// count.
  Storage(std::shared_ptr<Storage> of, real* first, int64_t count);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device device;
  int64_t size;
  real* data;
  uint64_t version = 0;                      // writes through this storage
  uint64_t part_versions = 0;                // writes through its parts, and theirs
  std::vector<std::shared_ptr<Pack>> packs;  // of the weights in this memory
  std::shared_ptr<Storage> whole;            // the storage that this is a part of; null: it owns its memory
  int64_t parts = 0;                         // number of storages that are parts of this one
  bool zero_pads = false;                    // what lies between rows is zero: zero_padded_columns()
  std::shared_ptr<Twin> twin;                // this memory rounded, if the storage owns it: bf16_rows()
  const bool of_step;                        // was made while there was a StepMemory
  bool for_products = false;                 // by Tensor::for_products()
};

class Tensor {
 public:
  /// Undefined: no memory, `defined()` is false.
  Tensor() = default;
  /// Not initialised. On a GPU rows are aligned_row_stride() apart; only products read the pads between them.
  explicit Tensor(Shape shape, Device device = Device::cpu);
  /// The same for what products read row by row, as states and gradients: on a CPU with gaps between rows
  /// that would clash otherwise (rows_clash()).
  static Tensor for_products(Shape shape, Device device);
  /// Not initialised; rows have no gaps, also on a GPU.
  static Tensor dense(Shape shape, Device device);
  static Tensor filled(Shape shape, real value, Device device = Device::cpu);
  static Tensor zeros(Shape shape, Device device = Device::cpu) { return filled(shape, 0, device); }
  static Tensor from(const std::vector<real>& values, Shape shape, Device device = Device::cpu);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_.rows(); }
  int64_t columns() const { return shape_.columns(); }
  int64_t size() const { return shape_.size(); }
  int64_t row_stride() const { return row_stride_; }
  bool contiguous() const { return row_stride_ == columns() || rows() <= 1; }
  Extent extent() const { return {rows(), columns()}; }
  /// Whether what lies between the rows belongs to them.
  bool has_pads() const { return pads_; }
  Device device() const { return storage().device; }

  const real* data() const {
    note(false);
    return address();
  }
  /// Not for reading: to compare places in memory.
  const real* address() const { return storage().data + offset_; }
  /// For writing: increases the version. On the CPU every write uses it. Call it again for each write: a
  /// write through an old pointer is not detected.
  real* mutable_data() const {
    ++storage().version;
    Storage* memory = storage_.get();
    for (; memory->whole; memory = memory->whole.get()) ++memory->whole->part_versions;
    if (memory->twin) forget_rounded();
    note(true);
    return storage_->data + offset_;
  }
  /// Increases with every write to the storage, to its parts, and to the whole that it is a part of; not with
  /// writes to other parts.
  uint64_t version() const {
    uint64_t sum = storage().version + storage_->part_versions;
    for (const Storage* it = storage_->whole.get(); it; it = it->whole.get()) sum += it->version;
    return sum;
  }
  /// The number of tensors that share the memory, without its parts: a buffer is reused in place only if this
  /// is 1.
  int64_t use_count() const {
    int64_t count = storage_.use_count();
    for (const auto* it = &storage().whole; *it; it = &(*it)->whole) count += it->use_count() - (*it)->parts;
    return count;
  }
  bool shares_memory(const Tensor& other) const { return &memory() == &other.memory(); }
  int64_t offset() const { return offset_; }
  /// The storage that owns the memory.
  Storage& memory() const {
    Storage* it = &storage();
    while (it->whole) it = it->whole.get();
    return *it;
  }
  /// Throws Error if the tensor is undefined, and so does all that needs its memory.
  Storage& storage() const {
    check(defined(), "[tensor] an undefined tensor has no memory: give it a value, as by Tensor::zeros()");
    return *storage_;
  }

  /// For a kernel: to read, to write, or to read with one row repeated.
  Operand read_operand() const {
    note(false);
    return {storage().data + offset_, row_stride_};
  }
  Operand write_operand() const { return {mutable_data(), row_stride_}; }

  /// Elements [begin, end) of the leading dimension, as a view.
  Tensor slice(int64_t begin, int64_t end) const;
  /// Element i of the leading dimension, without that dimension, as a view.
  Tensor operator[](int64_t i) const;
  /// Rows [begin, end) of the matrix, as a view [end - begin, columns].
  Tensor slice_rows(int64_t begin, int64_t end) const;
  /// Of a vector: its elements from `begin` on as rows that are `row_stride` apart, as a view; they do not
  /// overlap. Of one made by zeros(), what lies between the rows belongs to them and must stay zero.
  Tensor as_strided(int64_t begin, Shape shape, int64_t row_stride) const;
  /// The larger view that this one is a part of, `rows` rows and `columns` columns from its beginning: the
  /// inverse of slice_rows() and slice_columns().
  Tensor parent_view(Shape shape, int64_t rows = 0, int64_t columns = 0) const;
  /// The same view with its own version and reference count: a part of a buffer, such as one time step, that
  /// is written and released independently of the others. Parts of one buffer must not overlap. A part can
  /// have parts.
  Tensor as_part() const;
  /// Columns [begin, end), as a view.
  Tensor slice_columns(int64_t begin, int64_t end) const;
  /// The same elements in another shape, as a view. Needs rows without gaps unless the columns stay the same.
  Tensor reshaped(Shape shape) const;

  /// The only element of a tensor of size 1.
  real item() const;
  /// All elements in order, on the host.
  std::vector<real> to_vector() const;
  /// Copies size() values from the host.
  void set(const real* values) const;
  /// Itself if it is on that device, else a copy.
  Tensor to(Device device) const;

 private:
  Tensor(Shape shape, Device device, int64_t row_stride);
  /// For the graph that is recorded: the next launch accesses this tensor, and the pads that belong to it.
  void note(bool writes) const {
    if (!cuda::notes_accesses || storage().device != Device::cuda || size() == 0) return;
    const int64_t behind = pads_ ? row_stride_ : columns();
    cuda::note_access(address(), ((rows() - 1) * row_stride_ + behind) * sizeof(real), writes);
  }
  /// The twin of the memory no longer has what is written now (tensor/products/packing.cpp).
  void forget_rounded() const;

  std::shared_ptr<Storage> storage_;
  Shape shape_;
  int64_t offset_ = 0;
  int64_t row_stride_ = 0;
  bool pads_ = false;

  friend int64_t zero_padded_columns(const Tensor& x);
};

/// The row stride at which all rows start at multiples of 16 bytes, which lets a matrix product on a GPU load
/// 16 bytes at once. A single row, and rows of one number, get no gaps.
int64_t aligned_row_stride(const Shape& shape);
/// Whether the cache lines at one column of these rows compete for the same few sets of a CPU's L1 cache,
/// each of which holds 8 lines or more: their stride is a multiple of a large power of two.
bool rows_clash(int64_t rows, int64_t row_stride);
/// The columns of x together with the pads behind its rows, if it has_pads(). Sets these to zero if they are
/// not: a product that includes them is the same, and can load 16 bytes at once up to the end of a row.
int64_t zero_padded_columns(const Tensor& x);
/// Whether b starts `rows` rows and `columns` columns after a, in the same memory with the same row stride.
bool is_at_offset(const Tensor& a, const Tensor& b, int64_t rows, int64_t columns);
/// Matrices of equal width as one, [sum of rows, columns]: a view if they are consecutive in memory, else a
/// copy.
Tensor stacked_rows(const std::vector<Tensor>& parts);

// Plain arithmetic on tensors, without gradients. Shapes must agree as matrices.

void fill(const Tensor& to, real value);
void copy(const Tensor& from, const Tensor& to);
/// A copy, with the layout of a new tensor.
Tensor clone(const Tensor& x);
/// x itself if its rows have no gaps, else a copy.
Tensor contiguous(const Tensor& x);
/// to += factor * x.
void accumulate(const Tensor& x, const Tensor& to, real factor = 1);
void accumulate(const Tensor& x, const Tensor& to, const Tensor& factor);
/// to *= factor.
void scale(const Tensor& to, real factor);
/// to = factor * x, which may be `to` itself.
void copy_scaled(const Tensor& x, const Tensor& to, const Tensor& factor);
/// Each row of `to` becomes the vector x [columns]; with `add`, x is added to each row.
void broadcast_rows(const Tensor& x, const Tensor& to, bool add = false);
/// to[j] = sum over rows of x[r, j], in the order of the rows; with `add`, it is added to `to`.
void column_sums(const Tensor& x, const Tensor& to, bool add = false);
/// to[i] = table[rows[i]], or zeros where rows[i] is -1; and table[rows[i]] += x[i] in the order of i. Error
/// for other rows than the table's.
void gather_rows(const Tensor& table, const Indices& rows, const Tensor& to);
void accumulate_rows(const Tensor& x, const Indices& rows, const Tensor& table);
/// 1 / counts[i], [count].
Tensor reciprocals(const Indices& counts, Device device);
/// The sum of all elements, and of their squares, in double, in an order fixed by the shape.
double sum(const Tensor& x);
double sum_of_squares(const Tensor& x);
bool all_finite(const Tensor& x);
/// The same sums [1] on the tensor's device, without waiting for them; a GPU adds in the tensor's own type.
Tensor sum_on_device(const Tensor& x);
Tensor sum_of_squares_on_device(const Tensor& x);

/// Throws Error unless all defined tensors lie on one device: a GPU kernel that dereferences host memory
/// poisons the CUDA context.
template <class... Tensors>
void check_one_device(const char* name, const Tensor& first, const Tensors&... others) {
  const auto beside = [&](const Tensor& other) {
    return !first.defined() || !other.defined() || other.device() == first.device();
  };
  check((beside(others) && ...), "[{}] needs operands on one device; bring them there by to()", name);
}

}  // namespace rondo
