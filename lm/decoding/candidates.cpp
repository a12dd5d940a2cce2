// The best continuations; see lm/decoding/candidates.h.
#include "lm/decoding/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace rondo {
namespace {

bool better(const Candidate& a, const Candidate& b) {
  return std::tie(b.log_p, a.hypothesis, a.symbol) < std::tie(a.log_p, b.hypothesis, b.symbol);
}

}  // namespace

void find_best(const NextSymbols& next, std::span<const double> log_p, int64_t count,
               std::optional<int32_t> banned, std::vector<Candidate>& best) {
  best.clear();  // a heap, the worst of them first
  // Candidates come in the order of hypothesis and symbol, so that one equal to the worst is no better.
  double worst = -std::numeric_limits<double>::infinity();
  for (int64_t k = 0; k < std::ssize(log_p); ++k) {
    const real* row = next.data + k * next.row_stride;
    const double before = log_p[static_cast<size_t>(k)];
    for (int64_t v = 0; v < next.symbols; ++v) {
      const double sum = before + static_cast<double>(row[v]);
      if (sum <= worst || v == banned) continue;
      const Candidate candidate{sum, k, static_cast<int32_t>(v)};
      if (std::isnan(sum)) return best.assign(1, candidate);
      if (std::ssize(best) == count) {
        std::pop_heap(best.begin(), best.end(), better);
        best.pop_back();
      }
      best.push_back(candidate);
      std::push_heap(best.begin(), best.end(), better);
      if (std::ssize(best) == count) worst = best.front().log_p;
    }
  }
  std::sort_heap(best.begin(), best.end(), better);
}

}  // namespace rondo
