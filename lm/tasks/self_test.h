// A test of the model before it is trained: is there a way for a gradient to every tensor? It deliberately
// does not judge what the gradients are: the tests of the cells do.
#pragma once

#include "nn/models/language_model.h"

namespace rondo {

/// Reads a few symbols without dropout, from a state that is not zero; with weight drop, once more as in
/// training. Throws Error naming the tensors, and of the second reading the recurrent weights, whose gradient
/// is zero in every element: they would stay as they are, unnoticed, while the rest is trained (as recurrent
/// weights did in ports of weight-dropped LSTMs). Leaves no trace: gradients are zero afterwards, statistics
/// and modes what they were; random numbers are those of the next begin_update(). Takes a small part of the
/// time of an update.
void check_gradients_reach_all(LanguageModel& model);

}  // namespace rondo
