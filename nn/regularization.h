// Penalties on the output of a recurrent layer, to be added to the loss. The objective multiplies them by
// their factors (lm/tasks/language_modelling_objective.h).
#pragma once

#include "autograd/variable.h"

namespace rondo {

/// The mean over all elements of x^2, [1]: activation regularization of an output after its dropout. Merity,
/// McCann & Socher 2017, section 3.1, whose formula has an L2 norm; their code, and that of Merity et al.
/// 2018, has this mean. Saves only x, and reads it once in each direction.
Variable activation_regularization(const Variable& x);

/// The mean over all elements of (x[t + 1] - x[t])^2 for x [T, B, H], [1]; 0 where T is 1: temporal
/// activation regularization of an output before its dropout. The same, section 3.2.
Variable temporal_regularization(const Variable& x);

}  // namespace rondo
