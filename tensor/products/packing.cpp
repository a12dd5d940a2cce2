// Packing, with rounding to bfloat16, and the packs that storages keep.
#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "tensor/allocator.h"
#include "tensor/kernels/kernels.h"
#include "tensor/products/bf16.h"
#include "tensor/products/int8.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/threads.h"

namespace rondo {

/// A packed matrix and what it was made from.
struct Pack {
  int64_t offset, rows, columns, row_stride;
  Transpose transpose;
  Multiplication multiplication;
  uint64_t version;
  Tensor panels;
  uint64_t uses = 0;
};

/// A copy of a memory in bfloat16: rows of `row_stride` numbers, bf16_row_stride() apart.
struct Twin {
  Tensor numbers;
  int64_t rows, row_stride;
  bool zero_pads;               // behind the columns of each row are zeros
  std::vector<Region> rounded;  // where nothing was written since

  /// Where x lies in it; an empty region if its rows have another stride.
  Region place_of(const Tensor& x) const;
  /// Notes that this region is rounded, and joins it to what lies beside it.
  void add(Region it);
  /// Notes that this region was written by what does not round: its rows are rounded no longer.
  void forget(const Region& place);
};

namespace {

/// More elements to pack justify waking a second thread.
constexpr int64_t parallel_packing = 1 << 17;
constexpr int64_t cache_line = 64 / sizeof(real);

// The word of one term, or of two.
struct Numbers {
  static constexpr int64_t terms = 1;
  static real word(real term, real) { return term; }
};
struct RoundedNumbers {
  static constexpr int64_t terms = 1;
  static real word(real term, real) { return std::bit_cast<float>(bf16_bits(term)); }
};
struct Pairs {
  static constexpr int64_t terms = 2;
  static real word(real term, real next) {
    return std::bit_cast<float>(bf16_bits(term) | bf16_bits(next) >> 16);
  }
};

template <class Body>
void with_words(const Multiplication& it, const Body& body) {
  if (it.kernels->word == Word::pair) return body(Pairs());
  return it.rounded ? body(RoundedNumbers()) : body(Numbers());
}

// A last term without a second one has a zero beside it: -0 on the left and 0 on the right, because adding
// their product, -0, changes no sum, not even a -0.
constexpr real left_zero = real(-0.0), right_zero = 0;

/// Instructions that make such words; null: there are none.
template <class Words>
const PairKernels* instructions_for() {
  if constexpr (Words::terms == 2)
    return pair_kernels();
  else
    return nullptr;
}

/// Terms that follow each other in memory; a last one without a second makes a word with `zero`.
template <class Words>
void make_words(const real* from, int64_t terms, real zero, real* to) {
  const int64_t whole = terms / Words::terms;
  if (const PairKernels* const by_instruction = instructions_for<Words>())
    by_instruction->in_sequence(from, whole, to);
  else
    for (int64_t w = 0; w < whole; ++w)
      to[w] = Words::word(from[w * Words::terms], from[(w + 1) * Words::terms - 1]);
  if (whole * Words::terms < terms) to[whole] = Words::word(from[terms - 1], zero);
}
/// Terms `stride` apart, of `count` rows or columns that lie side by side; words go `to_stride` apart.
template <class Words>
void make_words(const real* begin, int64_t stride, int64_t terms, int64_t count, real zero, real* to,
                int64_t to_stride) {
  const int64_t whole = terms / Words::terms;
  if (const PairKernels* const by_instruction = instructions_for<Words>())
    by_instruction->side_by_side(begin, stride, whole, count, to, to_stride);
  else
    for (int64_t w = 0; w < whole; ++w) {
      const real* const from = begin + w * Words::terms * stride;
      for (int64_t row = packing_rows_ahead; row < packing_rows_ahead + Words::terms; ++row)
        for (int64_t j = 0; j < count; j += cache_line) __builtin_prefetch(from + row * stride + j);
      for (int64_t j = 0; j < count; ++j)
        to[w * to_stride + j] = Words::word(from[j], from[(Words::terms - 1) * stride + j]);
    }
  if (whole * Words::terms == terms) return;
  const real* const last = begin + (terms - 1) * stride;
  for (int64_t j = 0; j < count; ++j) to[whole * to_stride + j] = Words::word(last[j], zero);
}

/// The same, but the words of each row follow each other, and rows go `to_stride` apart.
template <class Words>
void make_rows(const real* from, int64_t stride, int64_t terms, int64_t rows, real zero, real* to,
               int64_t to_stride) {
  constexpr int64_t line = cache_line * Words::terms;
  real converted[cache_line * cache_line];
  // Terms outside: each row of memory is then read in one piece.
  for (int64_t k = 0; k < terms; k += line)
    for (int64_t row = 0; row < rows; row += cache_line) {
      const int64_t count = std::min(cache_line, rows - row), left = std::min(line, terms - k);
      make_words<Words>(from + k * stride + row, stride, left, count, zero, converted, cache_line);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t w = 0; w * Words::terms < left; ++w)
          to[(row + i) * to_stride + k / Words::terms + w] = converted[w * cache_line + i];
    }
}

/// Rows and columns of a square of words that is transposed in registers.
constexpr int64_t square = 8;
typedef real SquareRow __attribute__((vector_size(square * sizeof(real))));

/// Of each square of 2 `half` rows and columns, exchanges the upper right quarter with the lower left one.
template <int half, int... column>
inline void exchange(SquareRow* rows, std::integer_sequence<int, column...>) {
  for (int64_t i = 0; i < square; ++i) {
    if (i & half) continue;
    const SquareRow upper = rows[i], lower = rows[i + half];
    rows[i] = __builtin_shufflevector(upper, lower, (column & half ? column - half + square : column)...);
    rows[i + half] =
        __builtin_shufflevector(upper, lower, (column & half ? column + square : column + half)...);
  }
}

/// Transposes a square of words of op(b): the upper left corner of `rows` rows of `terms` terms, which may be
/// smaller.
template <class Words>
inline void make_square(const real* from, int64_t stride, int64_t terms, int64_t rows, real* to,
                        int64_t to_stride) {
  constexpr int64_t line = square * Words::terms;
  if (terms >= line && rows >= square) {
    SquareRow words[square];
    for (int64_t i = 0; i < square; ++i) {
      real row[square];
      make_words<Words>(from + i * stride, line, right_zero, row);
      std::memcpy(&words[i], row, sizeof row);
    }
    constexpr auto columns = std::make_integer_sequence<int, square>();
    exchange<4>(words, columns);
    exchange<2>(words, columns);
    exchange<1>(words, columns);
    for (int64_t i = 0; i < square; ++i) std::memcpy(to + i * to_stride, &words[i], sizeof words[i]);
    return;
  }
  const int64_t left = std::min(line, terms);
  real row[square];
  for (int64_t i = 0; i < std::min(square, rows); ++i) {
    make_words<Words>(from + i * stride, left, right_zero, row);
    for (int64_t w = 0; w * Words::terms < left; ++w) to[w * to_stride + i] = row[w];
  }
}

/// Terms [k, k + terms) of columns [p * width, ...) of op(b); the last panel is padded with zeros, as are the
/// words of each up to `padded_words`.
template <class Words>
void pack_panel(const Tensor& b, Transpose transpose, int64_t width, int64_t k, int64_t terms,
                int64_t padded_words, int64_t p, real* to) {
  const int64_t stride = b.row_stride(), begin = p * width, words = (terms + Words::terms - 1) / Words::terms;
  const int64_t count = std::min(width, (transpose == Transpose::yes ? b.rows() : b.columns()) - begin);
  std::fill(to + (count < width ? 0 : words * width), to + padded_words * width, right_zero);
  if (transpose == Transpose::no)
    return make_words<Words>(b.data() + k * stride + begin, stride, terms, count, right_zero, to, width);
  const real* const from = b.data() + begin * stride + k;
  for (int64_t word = 0; word < words; word += square)
    for (int64_t j = 0; j < count; j += square)
      make_square<Words>(from + j * stride + word * Words::terms, stride, terms - word * Words::terms,
                         count - j, to + word * width + j, width);
}

/// The words of a row in int8; zeros fill the last quad.
void make_quads(const real* from, int64_t terms, int64_t words, real* to) {
  to[words - 1] = 0;
  auto* const multiples = reinterpret_cast<int8_t*>(to + int8_header);
  to[0] = round_to_int8(from, terms, multiples);
  int32_t sum = 0;
  for (int64_t k = 0; k < terms; ++k) sum -= 128 * multiples[k];
  std::memcpy(to + 1, &sum, sizeof sum);
}

/// A panel of rows of b in int8, to each of whose terms 128 is added. Columns behind the last are zeros.
void pack_quads(const Tensor& b, const PanelLayout& layout, int64_t panel, real* to) {
  const int64_t words = layout.words(0), width = layout.width(), begin = panel * width;
  const int64_t count = std::min(width, layout.columns - begin);
  if (count < width) std::fill(to, to + words * width, real(0));
  std::vector<real> row(static_cast<size_t>(words));
  for (int64_t j = 0; j < count; ++j) {
    make_quads(b.data() + (begin + j) * b.row_stride(), layout.inner, words, row.data());
    for (int64_t w = 0; w < words; ++w) {
      const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(row[static_cast<size_t>(w)])) ^
                            (w < int8_header ? 0 : 0x80808080);
      std::memcpy(to + w * width + j, &bits, sizeof bits);
    }
  }
}

/// A storage keeps packs of up to this many times its size, which is enough for a weight that is used forward
/// and backward, whole and gate by gate. Beyond that the oldest pack is dropped.
constexpr int64_t max_kept = 4;

/// From row to row of `count` numbers in the copy of a left side, or from word to word of `count` rows: an
/// odd number of cache lines, so that those of a tile are in different sets of the L1 cache.
int64_t left_stride(int64_t count) {
  const int64_t lines = (count + cache_line - 1) / cache_line;
  return (lines % 2 == 0 ? lines + 1 : lines) * cache_line;
}

}  // namespace

void pack(const Tensor& b, Transpose transpose, const Multiplication& it, real* to) {
  if (!has_memory(b.device())) return;
  const PanelLayout layout(b, transpose, *it.kernels);
  if (it.kernels->word == Word::quad)
    return parallel_for(layout.panels(), layout.size() >= parallel_packing,
                        [&](int64_t panel) { pack_quads(b, layout, panel, to + layout.place(0, panel)); });
  with_words(it, [&](auto words) {
    parallel_for(layout.blocks() * layout.panels(), layout.size() >= parallel_packing, [&](int64_t i) {
      const int64_t block = i / layout.panels(), panel = i % layout.panels();
      pack_panel<decltype(words)>(b, transpose, layout.width(), block * layout.block_terms(),
                                  layout.terms(block), layout.words(block), panel,
                                  to + layout.place(block, panel));
    });
  });
}

namespace {
/// `size` numbers, made from b by make(to); with Packing::kept, those that the storage of b keeps until b is
/// written.
template <class Make>
Panels made_from(const Tensor& b, Transpose transpose, const Multiplication& multiplication, Packing packing,
                 int64_t size, const Make& make) {
  if (packing == Packing::once) {
    const Tensor numbers({size}, b.device());
    make(numbers.mutable_data());
    return {numbers, false};
  }
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& packs = b.storage().packs;
  const auto it = std::ranges::find_if(packs, [&](const std::shared_ptr<Pack>& pack) {
    return pack->offset == b.offset() && pack->rows == b.rows() && pack->columns == b.columns() &&
           pack->row_stride == b.row_stride() && pack->transpose == transpose &&
           pack->multiplication == multiplication;
  });
  const bool found = it != packs.end();
  if (!found) {
    Tensor made({size}, b.device());
    for (const auto& pack : packs) size += pack->panels.size();
    for (; size > max_kept * b.storage().size && !packs.empty(); packs.erase(packs.begin()))
      size -= packs.front()->panels.size();
    packs.push_back(std::make_shared<Pack>(Pack{b.offset(), b.rows(), b.columns(), b.row_stride(), transpose,
                                                multiplication, 0, std::move(made)}));
  }
  Pack& pack = found ? **it : *packs.back();
  if (!found || pack.version != b.version()) make(pack.panels.mutable_data());
  pack.version = b.version();
  return {pack.panels, pack.uses++ % 2 == 1};
}

}  // namespace

Panels packed(const Tensor& b, Transpose transpose, const Multiplication& multiplication, Packing packing) {
  return made_from(b, transpose, multiplication, packing,
                   PanelLayout(b, transpose, *multiplication.kernels).size(),
                   [&](real* to) { pack(b, transpose, multiplication, to); });
}

namespace {
constexpr int64_t bf16_in_one = sizeof(real) / sizeof(uint16_t);

uint16_t* bf16_at(const Tensor& memory, const Region& region, int64_t row_stride) {
  return reinterpret_cast<uint16_t*>(memory.storage().data) + region.row * row_stride + region.column;
}

/// The next launch writes these rounded numbers.
void note_rounded(const uint16_t* to, Extent extent, int64_t row_stride) {
  cuda::note_access(to, ((extent.rows - 1) * row_stride + extent.columns) * sizeof(uint16_t), true);
}

/// Whether the rows of x reach from one to the next, but for their pads.
bool has_whole_rows(const Tensor& x) { return x.has_pads() || x.columns() == x.row_stride(); }

/// The twin of the memory of x, made if it can have one; else null.
Twin* twin_of(const Tensor& x) {
  Storage& memory = x.memory();
  const bool can_have_one = StepMemory::exists(x.device()) ? memory.of_step : memory.for_products;
  if (!is_gpu(x.device()) || x.size() == 0 || !can_have_one) return nullptr;
  if (!memory.twin) {
    const int64_t stride = x.row_stride(), to_stride = bf16_row_stride(stride);
    const int64_t rows = (memory.size + stride - 1) / stride, width = to_stride / bf16_in_one;
    const Tensor numbers({rows * width}, x.device());
    // Else the pads are zeros as soon as bf16_rows() has rounded all rows.
    const bool zeroed = has_whole_rows(x) && x.rows() < rows;
    if (zeroed && x.columns() < to_stride) {
      // Two columns are filled at once; the first of them may be the last of x, which is written after this.
      const int64_t first = x.columns() / bf16_in_one;
      const cuda::LaunchBetween between;
      launch(x.device(), {rows, width - first}, Fill{{numbers.mutable_data() + first, width}, 0});
    }
    memory.twin = std::make_shared<Twin>(Twin{numbers, rows, stride, zeroed, {}});
  }
  return memory.twin.get();
}

}  // namespace

Region Twin::place_of(const Tensor& x) const {
  const int64_t first = x.address() - x.memory().data, row = first / row_stride;
  const Region it{row, x.rows(), first - row * row_stride, x.columns()};
  return x.row_stride() == row_stride && it.column + it.columns <= row_stride ? it : Region{};
}

void Twin::add(Region it) {
  const auto joins = [&](const Region& other) {
    return other.row == it.row && other.rows == it.rows
               ? other.column + other.columns == it.column || it.column + it.columns == other.column
               : other.column == it.column && other.columns == it.columns &&
                     (other.row + other.rows == it.row || it.row + it.rows == other.row);
  };
  forget(it);  // so that none overlaps it
  for (auto other = rounded.begin(); (other = std::ranges::find_if(rounded, joins)) != rounded.end();) {
    const int64_t row_end = std::max(it.row + it.rows, other->row + other->rows);
    const int64_t column_end = std::max(it.column + it.columns, other->column + other->columns);
    it.row = std::min(it.row, other->row), it.column = std::min(it.column, other->column);
    it.rows = row_end - it.row, it.columns = column_end - it.column;
    rounded.erase(other);
  }
  rounded.push_back(it);
}

void Twin::forget(const Region& place) {
  const int64_t place_end = place.row + place.rows;
  for (const Region& it : std::exchange(rounded, {})) {
    const int64_t end = it.row + it.rows;
    if (!place.overlaps(it)) {
      rounded.push_back(it);
      continue;
    }
    if (it.row < place.row) rounded.push_back({it.row, place.row - it.row, it.column, it.columns});
    if (place_end < end) rounded.push_back({place_end, end - place_end, it.column, it.columns});
  }
}

void Tensor::forget_rounded() const {
  Twin& twin = *memory().twin;
  const Region place = twin.place_of(*this);
  if (place.size() == 0)  // it may be anywhere
    twin.rounded.clear();
  else
    twin.forget(place);
}

Bf16Rows bf16_rows(const Tensor& x, Packing packing) {
  constexpr int64_t aligned = 8;  // numbers: 16 bytes
  Twin* const twin = packing == Packing::once ? twin_of(x) : nullptr;
  const Region place = twin ? twin->place_of(x) : Region{};
  if (place.size() > 0 && place.column % aligned == 0) {
    const int64_t stride = bf16_row_stride(twin->row_stride);
    const bool whole = has_whole_rows(x);
    uint16_t* const to = bf16_at(twin->numbers, place, stride);
    if (!std::ranges::any_of(twin->rounded, [&](const Region& it) { return it.contains(place); })) {
      const Extent extent{x.rows(), whole ? stride : x.columns()};
      note_rounded(to, extent, stride);
      launch(x.device(), extent, RoundToBf16{x.read_operand(), to, x.columns(), stride});
      twin->add(place);
      twin->zero_pads |= whole && x.rows() == twin->rows;
    }
    return {twin->numbers, to, stride, whole && twin->zero_pads ? stride : x.columns()};
  }
  const int64_t stride = std::max<int64_t>(1, bf16_row_stride(x.columns()));
  const auto round = [&](real* to) {
    launch(x.device(), {x.rows(), stride},
           RoundToBf16{x.read_operand(), reinterpret_cast<uint16_t*>(to), x.columns(), stride});
  };
  const Tensor numbers =
      made_from(x, Transpose::no, multiplication(), packing, x.rows() * stride / bf16_in_one, round).numbers;
  return {numbers, bf16_at(numbers, {}, stride), stride, stride};
}

Operand write_operand_with_twin(const Tensor& x) {
  Operand to = x.write_operand();
  Twin* const twin = multiplication().rounded ? twin_of(x) : nullptr;
  const Region place = twin ? twin->place_of(x) : Region{};
  if (place.size() == 0) return to;
  twin->add(place);
  const int64_t stride = bf16_row_stride(twin->row_stride);
  to.rounded = bf16_at(twin->numbers, place, stride);
  note_rounded(to.rounded, x.extent(), stride);
  return to;
}

int64_t room_for_left(int64_t rows, const PanelLayout& layout) {
  return std::max(rows * left_stride(layout.block_words()), layout.block_words() * left_stride(rows));
}

LeftRows packed_left(const LeftRows& from, int64_t rows, int64_t terms, const Multiplication& multiplication,
                     real* room) {
  const TileKernels& kernels = *multiplication.kernels;
  const bool transposed = from.transposed && kernels.left_side == LeftSide::any;
  const int64_t words_of_row = kernels.words(terms), stride = left_stride(transposed ? rows : words_of_row);
  if (kernels.word == Word::quad) {
    for (int64_t i = 0; i < rows; ++i)
      make_quads(from.a.data + i * from.a.row_stride, terms, words_of_row, room + i * stride);
    return {{room, stride}, false};
  }
  with_words(multiplication, [&](auto words) {
    using Words = decltype(words);
    if (transposed)
      return make_words<Words>(from.a.data, from.a.row_stride, terms, rows, left_zero, room, stride);
    if (from.transposed)
      make_rows<Words>(from.a.data, from.a.row_stride, terms, rows, left_zero, room, stride);
    else
      for (int64_t i = 0; i < rows; ++i)
        make_words<Words>(from.a.data + i * from.a.row_stride, terms, left_zero, room + i * stride);
    const int64_t words_made = (terms + Words::terms - 1) / Words::terms, padded = kernels.words(terms);
    for (int64_t i = 0; words_made < padded && i < rows; ++i)
      std::fill(room + i * stride + words_made, room + i * stride + padded, left_zero);
  });
  return {{room, stride}, transposed};
}

}  // namespace rondo
