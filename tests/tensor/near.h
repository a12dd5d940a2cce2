// Numbers that are near to others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace rondo {

/// ASSERT that each number is the expected one, to a tolerance relative to max(1, |expected|).
template <class Number, class Expected>
void expect_near(const std::vector<Number>& actual, const std::vector<Expected>& expected, double tolerance,
                 const std::string& what = "") {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double wanted = expected[i];
    ASSERT_NEAR(actual[i], wanted, tolerance * std::max(1.0, std::abs(wanted))) << what << " element " << i;
  }
}

}  // namespace rondo
