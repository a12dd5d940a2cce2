// The neural cache: see adaptive_evaluation.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lm/evaluation/adaptive_evaluation.h"
#include "tensor/allocator.h"
#include "tensor/kernels/kernels.h"
#include "tensor/products/gemm.h"

namespace rondo {
namespace {

constexpr int64_t block_rows = 128;  // positions whose products are one gemm

int64_t checked_largest(const std::vector<int64_t>& windows, int64_t width) {
  const int64_t window = *std::ranges::max_element(windows);
  NeuralCache::check_fits(window, width);
  return window;
}

}  // namespace

Keys keys_of(CacheOptions& options) {
  return {
      {"window", &options.window, any_count(), "symbols",
       "that the neural cache of lm eval --cache remembers"},
      {"theta", &options.theta, at_least(0), "",
       "how much the cache prefers states that are similar to the current one; 0: not at all"},
      {"lambda", &options.lambda, between(0, 1), "", "the cache's share of the probability"},
  };
}

void NeuralCache::check_fits(int64_t window, int64_t width) {
  const auto available = available_memory();
  check_input(!available || memory(window, width) <= *available,
              "cache.window = {}: the cache would take {}, and {} are available: make it smaller", window,
              bytes_text(memory(window, width)), bytes_text(available.value_or(0)));
}

int64_t NeuralCache::memory(int64_t window, int64_t width) {
  return (2 * window + block_rows) *
             (width * static_cast<int64_t>(sizeof(real)) + static_cast<int64_t>(sizeof(int32_t))) +
         2 * block_rows * (window + block_rows) * static_cast<int64_t>(sizeof(real));
}

NeuralCache::NeuralCache(std::vector<int64_t> windows, std::vector<double> thetas, int64_t width)
    : windows_(std::move(windows)),
      thetas_(std::move(thetas)),
      window_(checked_largest(windows_, width)),
      states_(Tensor::zeros({2 * window_ + block_rows, width})),
      nexts_(static_cast<size_t>(states_.rows())),
      end_(window_),
      first_(window_),
      products_({block_rows, window_ + block_rows}),
      scores_(products_.shape()) {}

std::vector<double> NeuralCache::read(const Tensor& states, const std::vector<int32_t>& targets) {
  // On the host, which compares the symbols.
  const Tensor rows = states.to(Device::cpu).reshaped({states.rows(), states.columns()});
  check(rows.rows() == std::ssize(targets) && rows.columns() == states_.columns(),
        "[neural cache] states {} do not fit {} targets and a width of {}", states.shape(), targets.size(),
        states_.columns());
  const size_t settings = windows_.size() * thetas_.size();
  std::vector<double> probabilities(targets.size() * settings);
  for (int64_t begin = 0; begin < rows.rows(); begin += block_rows)
    read_block(rows.slice_rows(begin, std::min(begin + block_rows, rows.rows())), targets.data() + begin,
               probabilities.data() + static_cast<size_t>(begin) * settings);
  return probabilities;
}

void NeuralCache::read_block(const Tensor& states, const int32_t* targets, double* probabilities) {
  const int64_t n = states.rows();
  if (end_ + n > states_.rows()) {  // so end_ > 2 window_: the two ranges do not overlap
    const int64_t shift = end_ - window_;
    copy(states_.slice_rows(shift, end_), states_.slice_rows(0, window_));
    std::copy(nexts_.begin() + shift, nexts_.begin() + end_, nexts_.begin());
    first_ = std::max<int64_t>(0, first_ - shift);
    end_ = window_;
  }
  copy(states, states_.slice_rows(end_, end_ + n));
  std::copy(targets, targets + n, nexts_.begin() + end_);

  // Column c is row begin + c of states_. Position r may use columns r to r + window_ of the largest window:
  // this is a matrix, too, whose row stride is larger by one.
  const int64_t begin = end_ - window_, columns = window_ + n, nothing = std::max<int64_t>(0, first_ - begin);
  const Tensor products = products_.slice_rows(0, n).slice_columns(0, columns);
  const Tensor scores = scores_.slice_rows(0, n).slice_columns(0, columns);
  gemm(states, Transpose::no, states_.slice_rows(begin, begin + columns), Transpose::yes, false, products);
  const std::vector<int32_t> any(static_cast<size_t>(n), 0);
  std::vector<real> log_sums(static_cast<size_t>(n)), unused(log_sums.size());
  for (size_t t = 0; t < thetas_.size(); ++t) {
    copy(products, scores);
    scale(scores, static_cast<real>(thetas_[t]));
    fill(scores.slice_columns(0, nothing), -std::numeric_limits<real>::infinity());
    for (size_t w = 0; w < windows_.size(); ++w) {
      const int64_t skipped = window_ - windows_[w];
      const Operand band{scores.mutable_data() + skipped, scores.row_stride() + 1};
      launch(scores.device(), {n, windows_[w]},
             LogitsCrossEntropy{band, any.data(), 1, log_sums.data(), unused.data()});
      for (int64_t r = 0; r < n; ++r) {
        double sum = 0;
        const real* row = scores.data() + r * scores.row_stride();
        const int64_t from = std::max(nothing, r + skipped), to = r + window_;
        for (int64_t c = from; c < to; ++c)
          if (nexts_[static_cast<size_t>(begin + c)] == targets[r])
            sum += std::exp(static_cast<double>(row[c]) - log_sums[static_cast<size_t>(r)]);
        const auto place = (static_cast<size_t>(r) * windows_.size() + w) * thetas_.size() + t;
        probabilities[place] = from < to ? std::min(sum, 1.0) : empty;
      }
    }
  }
  end_ += n;
}

double mixed_nats(double nats, double cached, double lambda) {
  if (cached == NeuralCache::empty || lambda == 0) return nats;
  const double from_model = std::log1p(-lambda) - nats;
  if (cached == 0) return -from_model;
  const double from_cache = std::log(lambda) + std::log(cached);
  const double larger = std::max(from_model, from_cache);
  return -(larger + std::log(std::exp(from_model - larger) + std::exp(from_cache - larger)));
}

}  // namespace rondo
