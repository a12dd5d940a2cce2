// The packed product: the order of a packed weight, the kernel over it, and the packs that storages keep.
//
// op(W) [inner, columns] is cut into panels of two registers' width, each stored [inner][width], so that the
// kernel reads it front to back. A tile of c, as many rows as the registers hold, stays in registers while a
// block of the panel streams by; x is read as it lies (Goto & van de Geijn 2008, without packing the left
// side).
#include "tensor/packed_gemm.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "tensor/vec.h"

namespace rondo {

/// A packed weight and what it was made from.
struct Pack {
  int64_t offset, rows, columns, row_stride;  // of the weight
  Transpose transpose;
  uint64_t version;
  Tensor panels;  // [panel count, inner * width]
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
/// Inner terms at a time: this much of a panel is read by all tiles of rows before the next.
constexpr int64_t block_inner = 256;
/// Above this many rows BLAS is as fast.
constexpr int64_t most_packed_rows = 256;
/// Fewer multiplications than this are not worth waking a second thread for.
constexpr int64_t parallel_work = 1 << 17;

int64_t panels_of(int64_t columns) { return (columns + width - 1) / width; }

/// Columns [p * width, ...) of op(W) as a panel; the last one is filled up with zeros.
void pack_panel(const Tensor& weight, Transpose transpose, int64_t p, real* to) {
  const real* from = weight.data();
  const int64_t stride = weight.row_stride(), begin = p * width;
  if (transpose == Transpose::no) {
    const int64_t inner = weight.rows(), count = std::min(width, weight.columns() - begin);
    for (int64_t k = 0; k < inner; ++k, to += width) {
      std::copy_n(from + k * stride + begin, count, to);
      std::fill(to + count, to + width, real(0));
    }
    return;
  }
  const int64_t inner = weight.columns(), count = std::min(width, weight.rows() - begin);
  if (count < width) std::fill(to, to + inner * width, real(0));
  constexpr int64_t line = 64 / sizeof(real);  // a cache line of each row at a time
  for (int64_t k0 = 0; k0 < inner; k0 += line)
    for (int64_t j = 0; j < count; ++j) {
      const real* row = from + (begin + j) * stride;
      for (int64_t k = k0; k < std::min(k0 + line, inner); ++k) to[k * width + j] = row[k];
    }
}

/// The storage's pack of this weight, made or renewed if it was written since.
const real* packed(const Tensor& weight, Transpose transpose) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& packs = weight.storage().packs;
  const int64_t inner = transpose == Transpose::yes ? weight.columns() : weight.rows();
  const int64_t columns = transpose == Transpose::yes ? weight.rows() : weight.columns();
  auto pack = std::find_if(packs.begin(), packs.end(), [&](const std::shared_ptr<Pack>& it) {
    return it->offset == weight.offset() && it->rows == weight.rows() && it->columns == weight.columns() &&
           it->row_stride == weight.row_stride() && it->transpose == transpose;
  });
  const uint64_t version = weight.version();
  if (pack != packs.end() && (*pack)->version == version) return (*pack)->panels.data();
  const int64_t panels = panels_of(columns);
  if (pack == packs.end())
    pack = packs.insert(
        packs.end(),
        std::make_shared<Pack>(Pack{weight.offset(), weight.rows(), weight.columns(), weight.row_stride(),
                                    transpose, version, Tensor({panels, inner * width})}));
  (*pack)->version = version;
  real* to = (*pack)->panels.write();
#pragma omp parallel for schedule(static) if (inner * columns >= parallel_work)
  for (int64_t p = 0; p < panels; ++p) pack_panel(weight, transpose, p, to + p * inner * width);
  return to;
}

/// Whether the rows of x lie a large power of two apart: a tile then reads lines that all want the same few
/// places of the first cache.
bool clashes(const Tensor& x) { return x.row_stride() * static_cast<int64_t>(sizeof(real)) % 2048 == 0; }
constexpr int64_t few_rows = 8;  // one row of places holds as many lines

/// A copy whose rows lie a cache line further apart.
Tensor spread(const Tensor& x) {
  const Tensor wide({x.rows(), x.columns() + 64 / static_cast<int64_t>(sizeof(real))});
  const Tensor copied = wide.column_block(0, x.columns());
  copy(x, copied);
  return copied;
}

/// One tile: rows x registers of c, over `inner` terms. `columns` of the last register may be fewer.
struct Tile {
  int64_t inner, columns;
  const real* x;
  int64_t x_stride;
  const real* panel;
  Operand start, c;

  template <int rows, int registers>
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
    const real* factors = x;
    const real* weights = panel;
    for (int64_t k = 0; k < inner; ++k, ++factors, weights += width) {
      Vec w[registers];
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v) {
        w[v] = Vec::load(weights + v * Vec::size);
        __builtin_prefetch(weights + 8 * width + v * Vec::size);
      }
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < registers; ++v) sums[i][v] = sums[i][v] + Vec(factors[i * x_stride]) * w[v];
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
template <int registers, int... rows>
constexpr std::array<RunTile, sizeof...(rows)> tiles_of(std::integer_sequence<int, rows...>) {
  return {[](const Tile& tile) { tile.run<rows + 1, registers>(); }...};
}
/// tiles[registers - 1][rows - 1]
constexpr std::array<RunTile, tile_rows> tiles[panel_registers] = {
    tiles_of<1>(std::make_integer_sequence<int, tile_rows>()),
    tiles_of<2>(std::make_integer_sequence<int, tile_rows>())};

}  // namespace

bool packing_pays(int64_t rows) { return rows <= most_packed_rows; }

void packed_gemm(const Tensor& left, const Tensor& weight, Transpose transpose, Operand start,
                 const Tensor& c) {
  const Tensor x = left.rows() > few_rows && clashes(left) ? spread(left) : left;
  const real* panels = packed(weight, transpose);
  const int64_t rows = x.rows(), inner = x.columns(), columns = c.columns();
  const Operand to = c.write_operand();
  const int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  const int64_t rows_each = (rows + row_tiles - 1) / row_tiles;  // tiles of one height
  const int64_t tasks = panels_of(columns) * row_tiles;

  /// Tiles [begin, end), panel by panel: neighbours share the panel, a thread owns its part of c.
  const auto run = [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / row_tiles, first = begin % row_tiles;
      const int64_t last = std::min(row_tiles, first + end - begin), column = p * width;
      const int64_t tile_columns = std::min(width, columns - column);
      const auto& kernels = tiles[tile_columns > Vec::size ? 1 : 0];
      for (int64_t k = 0; k < std::max<int64_t>(inner, 1); k += block_inner) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t row = i * rows_each, count = std::min(rows_each, rows - row);
          if (count <= 0) continue;
          const Operand sum = {to.data + row * to.row_stride + column, to.row_stride};
          const Operand before = k > 0 ? sum
                                 : start.data
                                     ? Operand{start.data + row * start.row_stride + column, start.row_stride}
                                     : Operand{};
          kernels[count - 1]({std::min(block_inner, inner - k), tile_columns,
                              x.data() + row * x.row_stride() + k, x.row_stride(),
                              panels + p * inner * width + k * width, before, sum});
        }
      }
      begin += last - first;
    }
  };
  if (rows * inner * columns < parallel_work) return run(0, tasks);
  const int64_t parts = threads();
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < parts; ++part) run(tasks * part / parts, tasks * (part + 1) / parts);
}

}  // namespace rondo
