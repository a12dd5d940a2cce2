// The functions of the gates, on numbers in the L1 cache.
#include "bench/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/machine.h"
#include "tensor/simd/vec.h"

namespace rondo {
namespace {

constexpr int elements = 2048, passes = 4000, turns = 7;

template <class Function>
double nanoseconds_an_element(Function function) {
  std::vector<real> x(elements), y(elements);
  for (int i = 0; i < elements; ++i) x[i] = real(8) * (real(2) * static_cast<real>(i) / elements - 1);
  std::vector<double> seconds;
  for (int turn = 0; turn < turns; ++turn) {
    const double start = now();
    for (int pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < elements; i += Vec::size) function(Vec::load(&x[i])).store(&y[i]);
      asm volatile("" : : "r"(y.data()) : "memory");  // the compiler must not drop a pass
    }
    seconds.push_back(now() - start);
  }
  return median(seconds) / passes / elements * 1e9;
}

}  // namespace

void print_functions() {
  fmt::print("  exp {:.2f}, tanh {:.2f}, sigmoid {:.2f} ns an element with one thread\n",
             nanoseconds_an_element([](Vec x) { return exp(x); }),
             nanoseconds_an_element([](Vec x) { return tanh(x); }),
             nanoseconds_an_element([](Vec x) { return sigmoid(x); }));
}

}  // namespace rondo
