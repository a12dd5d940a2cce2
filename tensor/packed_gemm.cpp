// The packed product: the layout of a packed matrix, the kernel that reads it, and the packs that storages
// keep.
//
// op(b) [inner, columns] is cut into blocks of inner terms, and each block into panels of two registers'
// width, stored [terms][width] one after the other, in the order in which the kernel reads them. A tile of c,
// as many rows as the registers hold, stays in registers while a panel is read (Goto & van de Geijn 2008).
// The left side is not packed.
#include "tensor/packed_gemm.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "tensor/threads.h"
#include "tensor/vec.h"

namespace rondo {

/// A packed matrix and what it was made from.
struct Pack {
  int64_t offset, rows, columns, row_stride;
  Transpose transpose;
  uint64_t version;
  Tensor panels;
};

namespace {

constexpr int panel_registers = 2;
constexpr int64_t width = panel_registers * Vec::size;
/// Rows of a tile: its sums, one row of the panel and a factor fill the registers (32 with AVX-512 and NEON,
/// else 16).
#if defined(__AVX512F__) || defined(__ARM_NEON)
constexpr int tile_rows = 14;
#else
constexpr int tile_rows = 6;
#endif
/// Terms per block: this part of a panel and of a tile's rows fits into the L1 cache.
constexpr int64_t block_terms = 384;
/// Rows per block and thread: these rows, and those of c, fit into the L2 cache. Up to `few_rows` rows are
/// one block for all threads, which divide its columns among them.
constexpr int64_t block_rows = 8 * tile_rows, few_rows = 256;
/// Fewer multiplications, or elements to pack, do not justify waking a second thread.
constexpr int64_t work_for_threads = 1 << 17, parallel_packing = 1 << 17;

/// The layout of a packed op(b) [inner, columns].
struct Order {
  int64_t inner, columns;

  Order(const Tensor& b, Transpose transpose)
      : inner(transpose == Transpose::yes ? b.columns() : b.rows()),
        columns(transpose == Transpose::yes ? b.rows() : b.columns()) {}

  int64_t blocks() const { return (inner + block_terms - 1) / block_terms; }
  int64_t panels() const { return (columns + width - 1) / width; }
  int64_t size() const { return panels() * inner * width; }
  int64_t terms(int64_t block) const { return std::min(block_terms, inner - block * block_terms); }
  int64_t place(int64_t block, int64_t panel) const {
    return (block * block_terms * panels() + panel * terms(block)) * width;
  }
};

/// Terms [k, k + terms) of columns [p * width, ...) of op(b); the last panel is padded with zeros.
void pack_panel(const Tensor& b, Transpose transpose, int64_t k, int64_t terms, int64_t p, real* to) {
  const int64_t stride = b.row_stride(), begin = p * width;
  if (transpose == Transpose::no) {
    const real* from = b.data() + k * stride + begin;
    const int64_t count = std::min(width, b.columns() - begin);
    for (int64_t i = 0; i < terms; ++i, to += width, from += stride) {
      std::copy_n(from, count, to);
      std::fill(to + count, to + width, real(0));
    }
    return;
  }
  const int64_t count = std::min(width, b.rows() - begin);
  if (count < width) std::fill(to, to + terms * width, real(0));
  constexpr int64_t line = 64 / sizeof(real);  // a cache line of each row at a time
  for (int64_t first = 0; first < terms; first += line)
    for (int64_t j = 0; j < count; ++j) {
      const real* row = b.data() + (begin + j) * stride + k;
      for (int64_t i = first; i < std::min(first + line, terms); ++i) to[i * width + j] = row[i];
    }
}

void pack(const Tensor& b, Transpose transpose, const Tensor& to) {
  const Order order(b, transpose);
  real* first = to.mutable_data();
  parallel_for(order.blocks() * order.panels(), order.size() >= parallel_packing, [&](int64_t i) {
    const int64_t block = i / order.panels(), panel = i % order.panels();
    pack_panel(b, transpose, block * block_terms, order.terms(block), panel,
               first + order.place(block, panel));
  });
}

/// A storage keeps packs of up to this many times its size, which is enough for a weight that is used forward
/// and backward, whole and gate by gate. Beyond that the oldest pack is dropped.
constexpr int64_t max_kept = 4;

/// The panels that the storage of b keeps, made if there are none or if b was written since.
Tensor kept_panels(const Tensor& b, Transpose transpose) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& packs = b.storage().packs;
  const auto it = std::find_if(packs.begin(), packs.end(), [&](const std::shared_ptr<Pack>& pack) {
    return pack->offset == b.offset() && pack->rows == b.rows() && pack->columns == b.columns() &&
           pack->row_stride == b.row_stride() && pack->transpose == transpose;
  });
  const bool found = it != packs.end();
  if (!found) {
    Tensor panels({Order(b, transpose).size()});
    int64_t size = panels.size();
    for (const auto& pack : packs) size += pack->panels.size();
    for (; size > max_kept * b.storage().size && !packs.empty(); packs.erase(packs.begin()))
      size -= packs.front()->panels.size();
    packs.push_back(std::make_shared<Pack>(
        Pack{b.offset(), b.rows(), b.columns(), b.row_stride(), transpose, 0, std::move(panels)}));
  }
  Pack& kept = found ? **it : *packs.back();
  if (!found || kept.version != b.version()) pack(b, transpose, kept.panels);
  kept.version = b.version();
  return kept.panels;
}

/// One tile of c over a block of terms. Its last `columns` may fill only part of a register.
struct Tile {
  int64_t terms, columns;
  const real* a;
  int64_t a_stride;
  const real* panel;
  Operand start, c;

  template <int rows, int registers, bool transposed>
  void run() const {
    Vec sums[rows][registers];
    const auto count = [&](int v) { return std::min<int64_t>(Vec::size, columns - v * Vec::size); };
    const auto load = [&](const real* from, int v) {
      return count(v) == Vec::size ? Vec::load(from) : Vec::load(from, count(v));
    };
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v)
        sums[i][v] = start.data ? load(start.data + i * start.row_stride + v * Vec::size, v) : Vec(real(0));
    const real* factors = a;
    const real* weights = panel;
    for (int64_t k = 0; k < terms; ++k, factors += transposed ? a_stride : 1, weights += width) {
      Vec w[registers];
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v) {
        w[v] = Vec::load(weights + v * Vec::size);
        // Measured at 20 x 4600 x 1150, in GFLOP/s: 82 without; 92, 95, 100 at 8, 16, 32 terms ahead; 64: no
        // gain.
        __builtin_prefetch(weights + 32 * width + v * Vec::size);
      }
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < registers; ++v)
          sums[i][v] = sums[i][v] + Vec(factors[transposed ? i : i * a_stride]) * w[v];
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v) {
        real* to = c.data + i * c.row_stride + v * Vec::size;
        count(v) == Vec::size ? sums[i][v].store(to) : sums[i][v].store(to, count(v));
      }
  }
};

using RunTile = void (*)(const Tile&);
template <int registers, bool transposed, int... rows>
constexpr std::array<RunTile, sizeof...(rows)> tiles_of(std::integer_sequence<int, rows...>) {
  return {[](const Tile& tile) { tile.run<rows + 1, registers, transposed>(); }...};
}
/// The kernel for a tile of this many rows and columns.
RunTile kernel(int64_t rows, int64_t columns, bool transposed) {
  constexpr std::make_integer_sequence<int, tile_rows> heights;
  static constexpr std::array<RunTile, tile_rows> kernels[2][panel_registers] = {
      {tiles_of<1, false>(heights), tiles_of<2, false>(heights)},
      {tiles_of<1, true>(heights), tiles_of<2, true>(heights)}};
  return kernels[transposed][columns > Vec::size][rows - 1];
}

/// Whether the row stride of x is a multiple of a large power of two: the cache lines that a tile reads then
/// compete for the same few sets of the L1 cache, each of which holds `lines_of_a_place` lines.
bool clashes(const Tensor& x) { return x.row_stride() * static_cast<int64_t>(sizeof(real)) % 2048 == 0; }
constexpr int64_t lines_of_a_place = 8;
/// Such rows are copied, one block of terms at a time, with a stride that is one cache line longer.
constexpr int64_t spread_stride = block_terms + 64 / static_cast<int64_t>(sizeof(real));

struct Product {
  Operand a;
  bool transpose_a, spread;
  Order order;
  const real* panels;
  Operand start, c;

  Product rows_from(int64_t row) const {
    const auto at = [&](Operand x) { return Operand{x.data + row * x.row_stride, x.row_stride}; };
    const Operand rows_of_a = transpose_a ? Operand{a.data + row, a.row_stride} : at(a);
    return {rows_of_a, transpose_a, spread, order, panels, start.data ? at(start) : start, at(c)};
  }
};

/// Rows [row, row + rows) of a, laid out for this block of terms, times panel p.
void run_tile(const Product& it, Operand a, int64_t row, int64_t rows, int64_t block, int64_t p) {
  const int64_t column = p * width, columns = std::min(width, it.order.columns - column);
  const auto at = [&](Operand x) { return Operand{x.data + row * x.row_stride + column, x.row_stride}; };
  const Operand sum = at(it.c), start = block > 0 ? sum : it.start.data ? at(it.start) : Operand{};
  kernel(rows, columns,
         it.transpose_a)({it.order.terms(block), columns, a.data + row * (it.transpose_a ? 1 : a.row_stride),
                          a.row_stride, it.panels + it.order.place(block, p), start, sum});
}

/// `rows` rows, cut into tiles of nearly equal height: part `part` of `parts` of all pairs of panel and tile,
/// panel by panel. If rows are copied, `room` has space for rows * spread_stride numbers.
void run_rows(const Product& it, int64_t rows, int64_t part, int64_t parts, real* room) {
  const int64_t tiles = (rows + tile_rows - 1) / tile_rows, height = (rows + tiles - 1) / tiles;
  const int64_t all = it.order.panels() * tiles;
  for (int64_t block = 0; block < std::max<int64_t>(it.order.blocks(), 1); ++block) {
    const int64_t k = block * block_terms;
    Operand a{it.a.data + k * (it.transpose_a ? it.a.row_stride : 1), it.a.row_stride};
    if (it.spread) {
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(a.data + i * a.row_stride, it.order.terms(block), room + i * spread_stride);
      a = {room, spread_stride};
    }
    for (int64_t i = all * part / parts; i < all * (part + 1) / parts; ++i) {
      const int64_t row = i % tiles * height;
      if (row < rows) run_tile(it, a, row, std::min(height, rows - row), block, i / tiles);
    }
  }
}

void multiply(const Product& it, int64_t rows) {
  const bool alone = rows * it.order.inner * it.order.columns < work_for_threads;
  const int64_t parts = alone ? 1 : threads();
  const bool share_columns = alone || rows <= few_rows;
  // The same number of blocks of rows for each thread, of nearly equal height.
  const int64_t blocks =
      share_columns ? 1 : ((rows + block_rows - 1) / block_rows + parts - 1) / parts * parts;
  const int64_t height = (rows + blocks - 1) / blocks, room_each = height * spread_stride;
  const Tensor room = it.spread ? Tensor({parts, room_each}) : Tensor();
  real* const first = it.spread ? room.mutable_data() : nullptr;
  parallel_for(parts, !alone, [&](int64_t part) {
    real* const own_room = first ? first + part * room_each : nullptr;
    if (share_columns) return run_rows(it, rows, part, parts, own_room);
    for (int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block)
      if (const int64_t row = block * height; row < rows)
        run_rows(it.rows_from(row), std::min(height, rows - row), 0, 1, own_room);
  });
}

}  // namespace

void packed_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                 Packing packing, Operand start, const Tensor& c) {
  const bool transposed = transpose_a == Transpose::yes;
  const Order order(b, transpose_b);
  Tensor panels;
  if (packing == Packing::kept) {
    panels = kept_panels(b, transpose_b);
  } else {
    panels = Tensor({order.size()});
    pack(b, transpose_b, panels);
  }
  const bool spread = !transposed && a.rows() > lines_of_a_place && clashes(a);
  multiply({a.read_operand(), transposed, spread, order, panels.data(), start, c.write_operand()}, c.rows());
}

}  // namespace rondo
