// Thrown when the loss or the gradients became NaN or infinite.
#pragma once

#include "tensor/error.h"

namespace rondo {

struct Diverged : Error {
  using Error::Error;
};

}  // namespace rondo
