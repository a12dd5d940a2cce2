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

/// The same of an Error of any kind.
template <class Act>
std::string any_error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace rondo
