// Asserting that an error is thrown, and what it says.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

#include "tensor/error.h"

namespace rondo {

/// The text of the `Expected` that `code` throws; a failed test, and "", if it throws nothing or another
/// type.
template <class Expected = InputError, class Code>
std::string error_of(Code&& code) {
  try {
    code();
  } catch (const std::exception& error) {
    EXPECT_TRUE(typeid(error) == typeid(Expected)) << "another type: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "threw nothing";
  return "";
}

/// Returns the text of the error of this kind, or derived from it, that `act` throws; "" if it throws none.
template <class Kind = InputError, class Act>
std::string refusal_of(Act act) {
  try {
    act();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

/// Returns the text of the error of this kind, or derived from it, that `act` throws. The test fails if it
/// throws none.
template <class Kind = Error, class Act>
std::string any_error_of(Act act) {
  const std::string text = refusal_of<Kind>(act);
  EXPECT_NE(text, "") << "no error was thrown";
  return text;
}

}  // namespace rondo
