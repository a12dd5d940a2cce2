// What is thrown where updates have ruined the weights: what is computed is no number any more.
#pragma once

#include "tensor/error.h"

namespace rondo {

struct Diverged : Error {
  using Error::Error;
};

}  // namespace rondo
