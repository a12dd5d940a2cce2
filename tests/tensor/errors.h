// Asserting that an error is thrown, and what it says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tensor/error.h"

namespace rondo {

/// The text of the Error that `act` throws; fails the test if it throws none.
template <class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace rondo
