// The packed product: blocks of rows and terms, and how threads share them.
#include "tensor/products/packed_gemm.h"

#if defined(__SSE__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "tensor/threads.h"

namespace rondo {
namespace {

/// Tiles per block of rows and thread: its rows, and those of c, fit into the L2 cache. Up to `few_rows` rows
/// are one block for all threads, which divide its columns among them. If the left side is copied, each
/// thread would copy all of it: threads that get enough tiles of rows divide the rows.
constexpr int64_t block_tiles = 8, few_rows = 256, enough_tiles = 4;
/// Fewer multiplications do not justify waking a second thread.
constexpr int64_t work_for_threads = 1 << 17;

/// Whether the left side is better read from a copy. As rows, if they clash: a tile reads one column of
/// several. Transposed, if each term of a tile is in another page or nearly so, which the CPU does not
/// prefetch: measured at 2800 x 700 x 3200, a quarter faster by the copy; with rows below 2 KiB it is slower.
bool better_copied(const Tensor& a, bool transposed) {
  constexpr int64_t far_apart = 2048 / sizeof(real);
  return transposed ? a.row_stride() >= far_apart : rows_clash(a.rows(), a.row_stride());
}

/// While it exists, this thread computes with subnormal numbers, below 2^-126, as with 0, as VDPBF16PS does.
class SubnormalsAreZero {
 public:
  explicit SubnormalsAreZero(bool wanted) : wanted_(wanted) {
#if defined(__SSE__)
    if (wanted_) _mm_setcsr((before_ = _mm_getcsr()) | 0x8040);
#endif
  }
  ~SubnormalsAreZero() {
#if defined(__SSE__)
    if (wanted_) _mm_setcsr(before_);
#endif
  }
  SubnormalsAreZero(const SubnormalsAreZero&) = delete;
  SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;

 private:
  const bool wanted_;
  [[maybe_unused]] unsigned before_ = 0;
};

struct Product {
  LeftRows left;
  bool copied;  // the left side, block by block
  Multiplication multiplication;
  PanelLayout layout;
  const real* panels;
  Operand start, c;
  /// From the last panel to the first, every second time: the caches then still have a part of what they
  /// cannot hold as a whole. With it and with `panel_by_panel` the recurrent products of an LSTM with 700
  /// units, B 32, in bf16 take 0.62 (backward) and 0.77 (forward) of the time on a Xeon with AMX.
  bool backwards = false;
  /// Each tile with all blocks of terms before the next one, as it is best if a panel has one tile: nothing
  /// of a block is then read twice.
  bool panel_by_panel = false;

  Product rows_from(int64_t row) const {
    const auto at = [&](Operand x) { return Operand{x.data + row * x.row_stride, x.row_stride}; };
    Product part = *this;
    part.left.a = left.transposed ? Operand{left.a.data + row, left.a.row_stride} : at(left.a);
    if (start.data) part.start = at(start);
    part.c = at(c);
    return part;
  }
};

/// The place of a tile in c.
struct Place {
  int64_t panel, tile;
};

/// How c is cut into tiles of nearly equal height, and the order in which they are computed: panel by panel,
/// every second one from its last tile to its first, so that tiles of one height follow each other.
struct Tiles {
  int64_t rows, height, of_a_panel, panels;
  bool backwards;  // from the last panel to the first

  Tiles(int64_t all_rows, const PanelLayout& layout, bool from_the_last)
      : rows(all_rows), panels(layout.panels()), backwards(from_the_last) {
    const TileKernels& kernels = *layout.kernels;
    const int64_t steps = (rows + kernels.rows - 1) / kernels.rows * kernels.step;
    height = (rows + steps - 1) / steps * kernels.step;
    of_a_panel = (rows + height - 1) / height;
  }
  /// Position `i` in a panel as a tile, or a tile as its position.
  int64_t reflected(int64_t panel, int64_t i) const { return panel % 2 == 0 ? i : of_a_panel - 1 - i; }
  /// How many tiles of its panel come before it.
  int64_t before(const Place& it) const { return reflected(it.panel, it.tile); }
  int64_t count() const { return panels * of_a_panel; }
  int64_t panel_after(int64_t panel) const { return panel + (backwards ? -1 : 1); }
  Place operator[](int64_t i) const {
    const int64_t number = i / of_a_panel, panel = backwards ? panels - 1 - number : number;
    return {panel, reflected(panel, i % of_a_panel)};
  }
  Place after(const Place& it) const {
    if (before(it) == of_a_panel - 1) return {panel_after(it.panel), it.tile};
    return {it.panel, it.tile + (it.panel % 2 == 0 ? 1 : -1)};
  }
};

/// A block of terms of both sides, and what its products are added to.
struct Block {
  LeftRows left;
  const real* panels;
  int64_t words;
  Operand start;

  const real* panel(int64_t number, int64_t width) const { return panels + number * words * width; }
};

/// The tile at `place`; `next` is the thread's next one, `next_panel` what is read after the panel.
void run_tile(const Product& it, const Tiles& tiles, const Block& block, const Place& place,
              const Place& next, const real* next_panel) {
  const int64_t width = it.layout.width();
  const int64_t row = place.tile * tiles.height, column = place.panel * width;
  const auto at = [&](Operand x) { return Operand{x.data + row * x.row_stride + column, x.row_stride}; };
  // Of the next panel each tile fetches a part.
  const int64_t ahead_step = (width + tiles.of_a_panel - 1) / tiles.of_a_panel;
  const int64_t ahead = std::min(tiles.before(place) * ahead_step, width - ahead_step);
  it.layout.kernels->run(
      {.rows = std::min(tiles.height, tiles.rows - row),
       .columns = std::min(width, it.layout.columns - column),
       .words = block.words,
       .a = block.left.a.data + row * (block.left.transposed ? 1 : block.left.a.row_stride),
       .a_stride = block.left.a.row_stride,
       .transposed = block.left.transposed,
       .panel = block.panel(place.panel, width),
       .start = block.start.data ? at(block.start) : Operand{},
       .c = at(it.c),
       .next_c = it.c.data + next.tile * tiles.height * it.c.row_stride + next.panel * width,
       .ahead = next_panel + ahead * block.words,
       .ahead_step = ahead_step});
}

/// Positions [begin, end) of tiles.
struct Range {
  int64_t begin, end;
};
/// Part `part` of `parts` of so many tiles.
Range range_of(int64_t count, int64_t part, int64_t parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

/// Tiles one after the other, each with all of these blocks.
void run_range(const Product& it, const Tiles& tiles, std::span<const Block> blocks, const Range& range) {
  const int64_t width = it.layout.width();
  Place place = tiles[range.begin];
  for (int64_t i = range.begin; i < range.end; ++i) {
    const Place next = i + 1 < range.end ? tiles.after(place) : place;
    for (size_t b = 0; b + 1 < blocks.size(); ++b)
      run_tile(it, tiles, blocks[b], place, place, blocks[b + 1].panel(place.panel, width));
    // After the last panel there is nothing to fetch.
    const int64_t after = tiles.panel_after(place.panel),
                  panel = std::clamp<int64_t>(after, 0, tiles.panels - 1);
    run_tile(it, tiles, blocks.back(), place, next, blocks.front().panel(panel, width));
    place = next;
  }
}

/// The tiles of a thread, once it has come to the last block of terms: a thread that has finished its own
/// takes some of them, so that it waits less for one that the machine has slowed down. Each takes half of the
/// rest at a time: an atomic operation waits for the stores before it, which took 4 % of a training of mGRU
/// 700 when tiles were taken one by one.
class alignas(64) SharedTiles {
 public:
  void open(const Range& range) {
    end_ = range.end;
    next_.store(range.begin, std::memory_order_release);
  }
  /// Empty if they are not open or all are taken.
  Range take() {
    int64_t begin = next_.load(std::memory_order_acquire);
    while (begin != closed && begin < end_)
      if (const int64_t end = begin + (end_ - begin + 1) / 2;
          next_.compare_exchange_weak(begin, end, std::memory_order_acquire))
        return {begin, end};
    return {};
  }

 private:
  static constexpr int64_t closed = -1;
  std::atomic<int64_t> next_ = closed;
  int64_t end_ = 0;  // written before the tiles are open
};

/// `rows` rows: part `part` of their tiles, one part for each of `shared`, and what is left of the others;
/// all tiles if nothing is shared. If the left side is copied, `room` has space for `rows` rows of it: of
/// each block of terms if it is multiplied panel by panel, else of one.
void run_rows(const Product& it, int64_t rows, int64_t part, std::span<SharedTiles> shared, real* room) {
  const PanelLayout& layout = it.layout;
  const Tiles tiles(rows, layout, it.backwards);
  const int64_t parts = std::max<int64_t>(1, std::ssize(shared));
  // A thread has the same panels in both directions.
  const Range own = range_of(tiles.count(), it.backwards ? parts - 1 - part : part, parts);
  if (own.begin == own.end) return;
  const SubnormalsAreZero subnormals_are_zero(it.multiplication.rounded);
  const int64_t count = std::max<int64_t>(layout.blocks(), 1), together = it.panel_by_panel ? count : 1;
  std::vector<Block> blocks;  // that each tile is multiplied with before the next tile
  for (int64_t b = 0; b < count; ++b) {
    const int64_t k = b * layout.block_terms();
    Block block{it.left, it.panels + layout.place(b, 0), layout.words(b), b > 0 ? it.c : it.start};
    block.left.a.data += k * (it.left.transposed ? it.left.a.row_stride : 1);
    const bool last = b == count - 1, sharing = last && !shared.empty();
    if (sharing) shared[part].open(own);  // others have copies of the left side of their own
    if (it.copied)
      block.left = packed_left(block.left, rows, layout.terms(b), it.multiplication,
                               room + std::ssize(blocks) * room_for_left(rows, layout));
    blocks.push_back(block);
    if (std::ssize(blocks) < together) continue;
    if (!sharing) run_range(it, tiles, blocks, own);
    for (int64_t i = 0; sharing && i < parts; ++i)
      for (Range range; (range = shared[(part + i) % parts].take()).begin < range.end;)
        run_range(it, tiles, blocks, range);
    blocks.clear();
  }
  layout.kernels->release();
}

void multiply(Product it, int64_t rows, Device device) {
  const bool alone = rows * it.layout.inner * it.layout.columns < work_for_threads;
  const int64_t parts = alone ? 1 : threads();
  const bool divide_rows = it.copied && rows >= parts * enough_tiles * it.layout.kernels->rows;
  const bool share_columns = alone || (rows <= few_rows && !divide_rows);
  // Blocks of nearly equal height, as many for each thread if all are equally fast: each takes the next one.
  const int64_t block_rows = block_tiles * it.layout.kernels->rows;
  const int64_t blocks =
      share_columns ? 1 : ((rows + block_rows - 1) / block_rows + parts - 1) / parts * parts;
  const int64_t height = (rows + blocks - 1) / blocks;
  it.panel_by_panel = blocks == 1 && Tiles(rows, it.layout, false).of_a_panel == 1;
  const int64_t room_each =
      room_for_left(height, it.layout) * (it.panel_by_panel ? std::max<int64_t>(it.layout.blocks(), 1) : 1);
  const Tensor room = it.copied ? Tensor({parts, room_each}, device) : Tensor();
  if (!has_memory(device)) return;
  real* const first = it.copied ? room.mutable_data() : nullptr;
  std::vector<SharedTiles> shared(static_cast<size_t>(share_columns && parts > 1 ? parts : 0));
  std::atomic<int64_t> next_block = 0;
  parallel_for(parts, !alone, [&](int64_t part) {
    real* const own_room = first ? first + part * room_each : nullptr;
    if (share_columns) return run_rows(it, rows, part, shared, own_room);
    for (int64_t row; (row = next_block++ * height) < rows;)
      run_rows(it.rows_from(row), std::min(height, rows - row), 0, {}, own_room);
  });
}

}  // namespace

void packed_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                 Packing packing, Operand start, const Tensor& c, const Multiplication& by) {
  const bool transposed = transpose_a == Transpose::yes;
  const Panels panels = packed(b, transpose_b, by, packing);
  const bool copied = by.rounded || by.kernels->word == Word::quad || better_copied(a, transposed);
  multiply({{a.read_operand(), transposed},
            copied,
            by,
            PanelLayout(b, transpose_b, *by.kernels),
            panels.numbers.data(),
            start,
            c.write_operand(),
            panels.backwards},
           c.rows(), c.device());
}

void packed_batched_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                         bool add, const Tensor& c) {
  const Multiplication by = multiplication();
  const int64_t N = c.shape()[0], rows = c.shape()[1];
  const PanelLayout layout(b[0], transpose_b, *by.kernels);
  const Tensor panels({N, layout.size()}, c.device()), room({N, room_for_left(rows, layout)}, c.device());
  if (!has_memory(c.device())) return;
  real *const all_panels = panels.mutable_data(), *const all_room = room.mutable_data();
  const Operand left = a.read_operand(), to = c.write_operand();
  const auto matrix = [](Operand x, const Tensor& of, int64_t i) {
    return Operand{x.data + i * of.shape()[1] * x.row_stride, x.row_stride};
  };
  parallel_for(N, N * rows * layout.inner * layout.columns >= work_for_threads, [&](int64_t i) {
    real* const panel = all_panels + i * panels.row_stride();
    pack(b[i], transpose_b, by, panel);
    const Operand c_i = matrix(to, c, i);
    run_rows({{matrix(left, a, i), transpose_a == Transpose::yes},
              true,
              by,
              layout,
              panel,
              add ? c_i : Operand{},
              c_i},
             rows, 0, {}, all_room + i * room.row_stride());
  });
}

}  // namespace rondo
