// Our exp, log, tanh, sigmoid and log1p against the C library in double: the largest errors that
// tensor/simd/vec.h documents, and that a value depends neither on its place in an array nor on the array's
// length.
#include "tensor/simd/vec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace rondo {
namespace {

static_assert(sizeof(real) == 4, "the double build calls the C library");

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Case {
  const char* name;
  Vec (*function)(Vec);
  double (*exact)(double);
  double max_ulp;       // as documented
  double smallest = 0;  // results below it may become 0
};
void PrintTo(const Case& it, std::ostream* out) { *out << it.name; }

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// tanh has 2.3 ulp for one division and no polynomial of its own: 0.6 of the time that 1.5 ulp took.
const Case cases[] = {
    {"exp", exp, std::exp, 1},         {"log", log, std::log, 1},
    {"tanh", tanh, std::tanh, 2.5},    {"sigmoid", sigmoid, exact_sigmoid, 2.5, 1.17549435e-38},
    {"log1p", log1p, std::log1p, 2.5},
};

/// The distance to the exact result in units of the last place of a float of its size.
double ulp_error(float actual, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(rounded) || std::isinf(actual) || std::isnan(actual))
    return (std::isnan(exact) && std::isnan(actual)) || actual == rounded ? 0 : infinity;
  const int exponent = std::max(std::ilogb(exact == 0 ? 1e-45 : exact), -126);
  return std::abs(actual - exact) / std::ldexp(1.0, exponent - 23);
}

/// Floats over all sizes and signs, subnormals included: every `step`-th bit pattern.
template <class Visit>
void sweep(uint32_t step, Visit visit) {
  std::vector<float> x;
  for (uint64_t pattern = 0; pattern <= 0xffffffffull; pattern += step) {
    float value;
    const auto word = static_cast<uint32_t>(pattern);
    std::memcpy(&value, &word, 4);
    x.push_back(value);
    if (static_cast<int>(x.size()) < Vec::size) continue;
    visit(x);
    x.clear();
  }
}

class VecFunction : public testing::TestWithParam<Case> {};

TEST_P(VecFunction, ErrorIsAtMostWhatIsDocumented) {
  const Case& it = GetParam();
  double largest = 0;
  float worst = 0;
  const auto visit = [&](const std::vector<float>& x) {
    float y[Vec::size];
    it.function(Vec::load(x.data())).store(y);
    for (int i = 0; i < Vec::size; ++i) {
      const double exact = it.exact(static_cast<double>(x[i]));
      if (std::abs(exact) < it.smallest && std::abs(y[i]) < it.smallest) continue;
      const double error = ulp_error(y[i], exact);
      if (error > largest) largest = error, worst = x[i];
    }
  };
  sweep(2003, visit);
  // And densely where the functions bend.
  std::vector<float> x;
  for (int i = -400000; i < 400000; ++i) {
    x.push_back(static_cast<float>(i) * 2.6e-4f);
    if (static_cast<int>(x.size()) == Vec::size) visit(x), x.clear();
  }
  EXPECT_LE(largest, it.max_ulp) << it.name << " at " << worst;
  RecordProperty("ulp", std::to_string(largest));
}

TEST_P(VecFunction, EdgesAreThoseOfTheCLibrary) {
  const Case& it = GetParam();
  for (float x :
       {0.0f,    -0.0f,  1.0f,  -1.0f,  infinity, -infinity, NAN,    3.4e38f, -3.4e38f, 1e37f,   1e-45f,
        -1e-45f, 1e-38f, -2.0f, 88.72f, 88.73f,   89.5f,     200.0f, -87.0f,  -103.9f,  -104.5f, -200.0f}) {
    const float y = it.function(Vec(x)).lanes[0];
    const double exact = it.exact(static_cast<double>(x));
    if (std::abs(exact) < it.smallest) {
      EXPECT_LT(std::abs(y), it.smallest) << it.name << "(" << x << ")";
    } else {
      EXPECT_LE(ulp_error(y, exact), it.max_ulp) << it.name << "(" << x << ") = " << y << ", not " << exact;
    }
  }
}

TEST_P(VecFunction, DoesNotDependOnPlaceOrLength) {
  const Case& it = GetParam();
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) x.push_back(static_cast<float>(i - 300) * 0.037f);
  std::vector<float> whole(x.size());
  for (size_t i = 0; i < x.size(); i += Vec::size) {
    const auto count = static_cast<int64_t>(std::min<size_t>(Vec::size, x.size() - i));
    it.function(Vec::load(&x[i], count)).store(&whole[i], count);
  }
  for (size_t shift = 1; shift < static_cast<size_t>(Vec::size); ++shift)
    for (size_t i = shift; i + Vec::size <= x.size(); i += Vec::size) {
      float y[Vec::size];
      it.function(Vec::load(&x[i])).store(y);
      ASSERT_EQ(std::memcmp(y, &whole[i], sizeof(y)), 0) << it.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Functions, VecFunction, testing::ValuesIn(cases), testing::PrintToStringParamName());

TEST(Vec, PartialLoadsAndStoresTouchOnlyTheirElements) {
  const float from[3] = {1, 2, 3};
  float to[5] = {7, 7, 7, 7, 7};
  (Vec::load(from, 3) * Vec(2)).store(to, 3);
  EXPECT_EQ((std::vector<float>(to, to + 5)), (std::vector<float>{2, 4, 6, 7, 7}));
}

TEST(Vec, TiesOfMaxAndMinGoToTheFirst) {
  EXPECT_TRUE(std::signbit(max(Vec(-0.0f), Vec(0.0f)).lanes[0]));
  EXPECT_FALSE(std::signbit(min(Vec(0.0f), Vec(-0.0f)).lanes[0]));
  EXPECT_EQ(abs(Vec(-3.5f)).lanes[1], 3.5f);
  EXPECT_EQ(sqrt(Vec(6.25f)).lanes[2], 2.5f);
}

}  // namespace
}  // namespace rondo
