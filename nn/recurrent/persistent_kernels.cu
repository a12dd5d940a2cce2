// All steps of a recurrent layer in one launch. Each block keeps its part of the recurrent weights in shared
// memory for the whole chunk; after each stage (nn/cells/stages.h) all blocks wait for each other, then each
// reads what the others have computed. No atomics: every sum has an order that depends on shapes alone.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <mma.h>

#include <tuple>
#include <utility>

#include "nn/cells/stages.h"
#include "nn/recurrent/persistent_kernels.h"
#include "tensor/pointwise_kernels.h"

namespace rondo::cuda {
namespace {

constexpr int tile = persistent_tile;

// ---- Products of a tile of rows with tiles of columns, by one warp, in each precision: `depth` terms at a
// time.

/// In `real`, by each thread for two columns of four rows.
struct Floats {
  using Number = real;
  static constexpr int depth = 4, rows = 4, columns = 2;
  struct Left {
    real x[rows][depth];
  };
  struct Sum {
    real x[rows][columns];
  };
  static __device__ Number rounded(real x) { return x; }
  static __device__ int row() { return threadIdx.x % 32 / 8 * rows; }
  static __device__ int column() { return threadIdx.x % 8 * columns; }
  /// Which `count` numbers are loaded at once.
  template <int count>
  static __device__ const real* aligned(const real* from) {
    return static_cast<const real*>(__builtin_assume_aligned(from, count * sizeof(real)));
  }
  static __device__ void clear(Sum& sum) {
    for (auto& of_row : sum.x)
      for (real& x : of_row) x = 0;
  }
  static __device__ void load(Left& left, const Number* from, int64_t stride) {
    for (int i = 0; i < rows; ++i) {
      const real* of_row = aligned<depth>(from + (row() + i) * stride);
      for (int k = 0; k < depth; ++k) left.x[i][k] = of_row[k];
    }
  }
  static __device__ void add(Sum& sum, const Left& left, const Number* right, int64_t stride) {
    for (int k = 0; k < depth; ++k) {
      const real* of_term = aligned<columns>(right + k * stride + column());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) sum.x[i][j] += left.x[i][k] * of_term[j];
    }
  }
  static __device__ void store(const Sum& sum, real* to, int64_t stride) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) to[(row() + i) * stride + column() + j] = sum.x[i][j];
  }
};

#ifndef RONDO_DOUBLE
namespace wmma = nvcuda::wmma;

/// By tensor cores, which multiply numbers of type Factor.
template <class Stored, class Factor, int terms>
struct TensorCores {
  using Number = Stored;
  static constexpr int depth = terms;
  using Left = wmma::fragment<wmma::matrix_a, tile, tile, depth, Factor, wmma::row_major>;
  using Right = wmma::fragment<wmma::matrix_b, tile, tile, depth, Factor, wmma::row_major>;
  using Sum = wmma::fragment<wmma::accumulator, tile, tile, depth, float>;
  static __device__ void clear(Sum& sum) { wmma::fill_fragment(sum, 0.f); }
  static __device__ void load(Left& left, const Number* from, int64_t stride) {
    wmma::load_matrix_sync(left, from, static_cast<unsigned>(stride));
  }
  static __device__ void add(Sum& sum, const Left& left, const Number* from, int64_t stride) {
    Right right;
    wmma::load_matrix_sync(right, from, static_cast<unsigned>(stride));
    wmma::mma_sync(sum, left, right, sum);
  }
  static __device__ void store(const Sum& sum, real* to, int64_t stride) {
    wmma::store_matrix_sync(to, sum, static_cast<unsigned>(stride), wmma::mem_row_major);
  }
};
struct Tf32 : TensorCores<float, wmma::precision::tf32, 8> {
  static __device__ float rounded(float x) { return wmma::__float_to_tf32(x); }
};
struct Bf16Numbers : TensorCores<__nv_bfloat16, __nv_bfloat16, 16> {
  static __device__ __nv_bfloat16 rounded(float x) { return __float2bfloat16(x); }
};
#endif

/// products[part][row][column] = the sum over this part of k of left[row][k] right[k][column].
template <class Mode>
__device__ void multiply(const typename Mode::Number* left, int64_t left_stride, int row_tiles,
                         const typename Mode::Number* right, int64_t right_stride, int64_t columns,
                         int64_t inner, real* products) {
  constexpr int side = 4;  // tiles of columns that share what is loaded of the rows
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, parts = parts_of_product(row_tiles);
  const int64_t steps = inner / Mode::depth, stride = padded(columns);
  for (int task = warp; task < row_tiles * parts; task += warps) {
    const int part = task / row_tiles;
    const int64_t begin = steps * part / parts, end = steps * (part + 1) / parts;
    const typename Mode::Number* rows = left + task % row_tiles * tile * left_stride;
    for (int64_t column = 0; column < columns; column += side * tile) {
      typename Mode::Sum sums[side];
      for (auto& sum : sums) Mode::clear(sum);
#pragma unroll 4
      for (int64_t k = begin; k < end; ++k) {
        typename Mode::Left loaded;
        Mode::load(loaded, rows + k * Mode::depth, left_stride);
#pragma unroll
        for (int i = 0; i < side; ++i)
          if (column + i * tile < columns)
            Mode::add(sums[i], loaded, right + k * Mode::depth * right_stride + column + i * tile,
                      right_stride);
      }
#pragma unroll
      for (int i = 0; i < side; ++i)
        if (column + i * tile < columns)
          Mode::store(sums[i], products + task * tile * stride + column + i * tile, stride);
    }
  }
  __syncthreads();
}
/// An element of what multiply() gave: its parts, added in order.
__device__ real product_at(const real* products, int row_tiles, int64_t columns, int row, int64_t column) {
  const int64_t stride = padded(columns);
  real sum = 0;
  for (int part = 0; part < parts_of_product(row_tiles); ++part)
    sum += products[(part * row_tiles * tile + row) * stride + column];
  return sum;
}

/// Units of a width that this block owns.
struct Owned {
  int first, count;
  __device__ Owned(int width, int units) : first(static_cast<int>(blockIdx.x) * units) {
    count = width - first < units ? width - first : units;
    if (count < 0) count = 0;
  }
  /// f(row, number of the unit among those of the block, unit) for all of them.
  template <class F>
  __device__ void for_each(int rows, F f) const {
    for (int i = threadIdx.x; i < rows * count; i += blockDim.x) f(i / count, i % count, first + i % count);
  }
};

// ---- Stages.

template <class Join>
constexpr int vectors_of = detail::inputs_of<Join> - 2;

template <class Join, size_t... V>
__device__ Scalar joined(Scalar x, Scalar product, const Scalar* vectors, std::index_sequence<V...>) {
  return Join{}(x, product, vectors[V]...);
}
/// The derivative of the join's result by the product.
template <class Join, size_t... V>
__device__ real slope_of_product(Scalar x, Scalar product, const Scalar* vectors, std::index_sequence<V...>) {
  return partial<1>(Join{}(constant(x), dual_input<1>(product), constant(vectors[V])...)).value;
}

template <class It>
struct StageTraits;
template <class Join_, int gate_count, class Gates_, Second second_, Also... also_>
struct StageTraits<Stage<Join_, gate_count, Gates_, second_, also_...>> {
  using Join = Join_;
  using Gates = Gates_;
  static constexpr int gates = gate_count;
  static constexpr Second second = second_;
  static constexpr int inputs = gate_count + sizeof...(also_);
  /// What input number i of the gates is, from `gates` on.
  __device__ static constexpr Also also(int i) {
    constexpr Also all[] = {also_..., Also::h};
    return all[i - gate_count];
  }
};

/// What the gates of stage I read for one unit and one row: pre-activations, then the others.
template <class Traits>
struct Inputs {
  Scalar x[Traits::inputs];

  template <class ProductOf>
  __device__ Inputs(const LayerOperands& layer, const StageOperands& stage, int t, int row, int unit,
                    ProductOf product_of) {
    for (int g = 0; g < Traits::gates; ++g) {
      const int column = g * stage.width + unit;
      Scalar vectors[max_join_vectors];
      read_vectors(stage, column, vectors);
      x[g] = joined<typename Traits::Join>(Scalar(stage.x.at(t, row, column)), Scalar(product_of(g, column)),
                                           vectors,
                                           std::make_index_sequence<vectors_of<typename Traits::Join>>{});
    }
    for (int i = Traits::gates; i < Traits::inputs; ++i)
      x[i] = value_of(layer, Traits::also(i), t, row, unit);
  }
  __device__ static void read_vectors(const StageOperands& stage, int column, Scalar* vectors) {
    for (int v = 0; v < vectors_of<typename Traits::Join>; ++v) vectors[v] = stage.vectors[v][column];
  }
  __device__ static Scalar value_of(const LayerOperands& layer, Also which, int t, int row, int unit) {
    switch (which) {
      case Also::seen_h:
        return layer.h.at(t, row, unit) * mask_at(layer, row, unit);
      case Also::h:
        return layer.h.at(t, row, unit);
      case Also::c:
        return layer.c.at(t, row, unit);
      case Also::kept:
        return layer.kept.at(t, row, unit);
    }
    return real(0);
  }
  __device__ static real mask_at(const LayerOperands& layer, int row, int unit) {
    return layer.mask.data ? layer.mask.data[row * layer.mask.row_stride + unit] : real(1);
  }
};

__device__ real& element(const Operand& x, int row, int column) {
  return x.data[row * x.row_stride + column];
}

/// The half of a stage's exchange for step t: [padded rows, exchange_stride].
template <class Mode>
__device__ typename Mode::Number* exchange_of(const LayerOperands& layer, const StageOperands& stage, int t) {
  return static_cast<typename Mode::Number*>(stage.exchange) +
         t % 2 * static_cast<int64_t>(layer.row_tiles) * tile * stage.exchange_stride;
}

template <class Mode, class... Stages>
struct Kernel {
  using Number = typename Mode::Number;
  static constexpr int count = sizeof...(Stages), last = count - 1;
  template <int I>
  using Traits = StageTraits<std::tuple_element_t<I, std::tuple<Stages...>>>;
  template <int I>
  using StageInputs = Inputs<Traits<I>>;

  const LayerOperands& layer;
  const Number* resident[count];  // a block's part of each weight: [padded terms, resident_stride]
  real* products;

  __device__ Kernel(const LayerOperands& it)
      : layer(it), products(it.products + blockIdx.x * it.products_of_block) {}

  /// Of what a stage reads, how many units a block owns.
  __device__ int units_read(int stage) const { return layer.stages[stage > 0 ? stage - 1 : last].units; }

  /// Loads the parts of the weights, as [terms, owned columns]: forward, U of the owned units of all gates,
  /// transposed; backward, the owned columns of U.
  __device__ void load_weights(Pass pass) {
    auto* to = static_cast<Number*>(shared_memory());
    for (int s = 0; s < count; ++s) {
      const StageOperands& stage = layer.stages[s];
      const bool forward = pass == Pass::forward;
      const int gates = gates_of(s), rows = gates * stage.width;
      const int terms = forward ? stage.inner : rows, units = forward ? stage.units : units_read(s);
      const Owned owned(forward ? stage.width : stage.inner, units);
      const int columns = forward ? gates * units : units;
      const auto stride = static_cast<int>(resident_stride(columns, sizeof(Number)));
      resident[s] = to;
      for (int i = threadIdx.x; i < static_cast<int>(padded(terms)) * stride; i += blockDim.x) {
        const int term = i / stride, column = i % stride, gate = column / units, unit = column % units;
        const bool there = term < terms && column < columns && unit < owned.count;
        const int row = forward ? gate * stage.width + owned.first + unit : term;
        to[i] =
            Mode::rounded(there ? element(stage.weight, row, forward ? term : owned.first + unit) : real(0));
      }
      to += padded(terms) * stride;
    }
    for (int i = threadIdx.x; i < tile; i += blockDim.x) to[i] = Mode::rounded(0);
  }
  __device__ static constexpr int gates_of(int stage) {
    constexpr int gates[] = {StageTraits<Stages>::gates...};
    return gates[stage];
  }

  template <int I>
  __device__ void multiply_stage(int t, int64_t columns, int64_t terms) const {
    const StageOperands& stage = layer.stages[I];
    multiply<Mode>(exchange_of<Mode>(layer, stage, t), stage.exchange_stride, layer.row_tiles, resident[I],
                   resident_stride(columns, sizeof(Number)), columns, padded(terms), products);
  }
  __device__ real product(int64_t columns, int row, int64_t column) const {
    return product_at(products, layer.row_tiles, columns, row, column);
  }
  __device__ static void wait_for_all_blocks() { cooperative_groups::this_grid().sync(); }

  // ---- Forward.

  __device__ void tell_h(int t, int row, int unit, real h) const {
    const real seen = h * StageInputs<0>::mask_at(layer, row, unit);
    if (layer.seen.data) layer.seen.at(t, row, unit) = seen;
    exchange_of<Mode>(layer, layer.stages[0], t)[row * layer.stages[0].exchange_stride + unit] =
        Mode::rounded(seen);
  }

  template <int I>
  __device__ void stage_forward(int t) const {
    using It = Traits<I>;
    const StageOperands& stage = layer.stages[I];
    const int columns = It::gates * stage.units;
    multiply_stage<I>(t, columns, stage.inner);
    Owned(stage.width, stage.units).for_each(layer.B, [&](int row, int j, int unit) {
      const StageInputs<I> in(layer, stage, t, row, unit, [&](int g, int column) {
        const real sum = product(columns, row, g * stage.units + j);
        if (stage.product.data) stage.product.at(t, row, column) = sum;
        return sum;
      });
      const auto y = detail::call(typename It::Gates{}, in.x, std::make_index_sequence<It::inputs>{});
      const real first = detail::output<0>(y).value;
      if constexpr (I == last) {
        layer.h.at(t + 1, row, unit) = first;
        tell_h(t + 1, row, unit, first);
      } else {
        const StageOperands& next = layer.stages[I + 1];
        stage.output.at(t, row, unit) = first;
        exchange_of<Mode>(layer, next, t)[row * next.exchange_stride + unit] = Mode::rounded(first);
      }
      if constexpr (It::second == Second::c) layer.c.at(t + 1, row, unit) = detail::output<1>(y).value;
      if constexpr (It::second == Second::kept) layer.kept.at(t, row, unit) = detail::output<1>(y).value;
    });
    wait_for_all_blocks();
  }

  template <int... I>
  __device__ void forward(std::integer_sequence<int, I...>) {
    load_weights(Pass::forward);
    const StageOperands& of_h = layer.stages[last];
    Owned(of_h.width, of_h.units).for_each(layer.B, [&](int row, int, int unit) {
      tell_h(0, row, unit, layer.h.at(0, row, unit));
    });
    wait_for_all_blocks();
    for (int t = 0; t < layer.T; ++t) (stage_forward<I>(t), ...);
  }

  // ---- Backward.

  template <int I>
  __device__ void stage_backward(int t) const {
    using It = Traits<I>;
    const StageOperands& stage = layer.stages[I];
    Number* const exchange = exchange_of<Mode>(layer, stage, t);
    Owned(stage.width, stage.units).for_each(layer.B, [&](int row, int, int unit) {
      const StageInputs<I> in(layer, stage, t, row, unit,
                              [&](int, int column) { return stage.product.at(t, row, column); });
      const auto y =
          detail::call_on_duals(typename It::Gates{}, in.x, std::make_index_sequence<It::inputs>{});
      Scalar of_first = element(I == last ? layer.of_h : stage.of_output, row, unit);
      if (I == last && layer.of_output.data) of_first = of_first + layer.of_output.at(t, row, unit);
      Scalar gradients[It::inputs];
      contract<It>(y, of_first, row, unit, gradients, std::make_integer_sequence<int, It::inputs>{});
      for (int g = 0; g < It::gates; ++g) {
        const int column = g * stage.width + unit;
        Scalar vectors[max_join_vectors];
        StageInputs<I>::read_vectors(stage, column, vectors);
        stage.gradient.at(t, row, column) = gradients[g].value;
        const real slope = slope_of_product<typename It::Join>(
            stage.x.at(t, row, column), stage.product.at(t, row, column), vectors,
            std::make_index_sequence<vectors_of<typename It::Join>>{});
        exchange[row * stage.exchange_stride + column] = Mode::rounded(gradients[g].value * slope);
      }
      if constexpr (I == last) element(layer.of_h, row, unit) = 0;  // what follows flows to the h before
      for (int i = It::gates; i < It::inputs; ++i) {
        const real gradient = gradients[i].value;
        switch (It::also(i)) {
          case Also::seen_h:
            element(layer.of_h, row, unit) += gradient * StageInputs<I>::mask_at(layer, row, unit);
            break;
          case Also::h:
            element(layer.of_h, row, unit) += gradient;
            break;
          case Also::c:
            element(layer.of_c, row, unit) = gradient;
            break;
          case Also::kept:
            element(layer.of_kept, row, unit) = gradient;
            break;
        }
      }
    });
    wait_for_all_blocks();
    const int units = units_read(I);
    multiply_stage<I>(t, units, static_cast<int64_t>(It::gates) * stage.width);
    Owned(stage.inner, units).for_each(layer.B, [&](int row, int j, int unit) {
      const real sum = product(units, row, j);
      if constexpr (I == 0)
        element(layer.of_h, row, unit) += sum * StageInputs<I>::mask_at(layer, row, unit);
      else
        element(layer.stages[I - 1].of_output, row, unit) = sum;
    });
    __syncthreads();
  }
  /// The gradient of each input of the gates from those of their results.
  template <class Traits, class Y, int... J>
  __device__ void contract(const Y& y, Scalar of_first, int row, int unit, Scalar* gradients,
                           std::integer_sequence<int, J...>) const {
    ((gradients[J] = of_first * partial<J>(detail::output<0>(y))), ...);
    if constexpr (Traits::second != Second::none) {
      const Scalar of_second = element(Traits::second == Second::c ? layer.of_c : layer.of_kept, row, unit);
      ((gradients[J] = gradients[J] + of_second * partial<J>(detail::output<1>(y))), ...);
    }
  }

  template <int... I>
  __device__ void backward(std::integer_sequence<int, I...>) {
    load_weights(Pass::backward);
    for (int t = layer.T - 1; t >= 0; --t) (stage_backward<last - I>(t), ...);
  }
};

// ---- Launches.

/// One block on each multiprocessor, so that a thread may have all its registers.
template <Pass pass, class Mode, class... Stages>
__global__ void __launch_bounds__(block_threads, 1) persistent(const __grid_constant__ LayerOperands layer) {
  constexpr std::make_integer_sequence<int, sizeof...(Stages)> all;
  Kernel<Mode, Stages...> kernel(layer);
  if constexpr (pass == Pass::forward)
    kernel.forward(all);
  else
    kernel.backward(all);
}
static_assert(block_threads == 32 * persistent_warps);

/// f(kernel) with the kernel of this pass and precision. The library in double has no others than Floats.
template <class... Stages, class F>
auto with_kernel(Pass pass, [[maybe_unused]] Precision precision, F f) {
  const auto of_mode = [&]<class Mode>(Mode) {
    return pass == Pass::forward ? f(persistent<Pass::forward, Mode, Stages...>)
                                 : f(persistent<Pass::backward, Mode, Stages...>);
  };
#ifndef RONDO_DOUBLE
  if (precision == Precision::tf32) return of_mode(Tf32{});
  if (precision == Precision::bf16) return of_mode(Bf16Numbers{});
#endif
  return of_mode(Floats{});
}

template <class... Stages>
PersistentKernel kernel_of(StageList<Stages...>) {
  static_assert(sizeof...(Stages) <= max_stages);
  return {typeid(StageList<Stages...>),
          [](Pass pass, Precision precision, int64_t blocks, int64_t bytes) {
            return with_kernel<Stages...>(pass, precision,
                                          [&](auto* kernel) { return fits_together(kernel, blocks, bytes); });
          },
          [](Pass pass, Precision precision, int64_t blocks, int64_t bytes, const LayerOperands& operands) {
            with_kernel<Stages...>(pass, precision,
                                   [&](auto* kernel) { launch_together(kernel, blocks, bytes, operands); });
          }};
}
template <class... Cells>
std::vector<PersistentKernel> kernels_of(CellList<Cells...>) {
  return {kernel_of(Cells{})...};
}

}  // namespace

PersistentLimits persistent_limits() {
  return {attribute(cudaDevAttrMultiProcessorCount), attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

const std::vector<PersistentKernel>& persistent_kernels() {
  static const std::vector<PersistentKernel> all = kernels_of(PersistentCells{});
  return all;
}

}  // namespace rondo::cuda
