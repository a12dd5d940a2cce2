// Trains one recipe in a process of its own, so that its memory can be measured; and how such a process
// answers. Next: bench/mixture.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/peer.h"
#include "lm/program/recipe.h"
#include "tensor/backend.h"

namespace rondo {

/// Enough where all batches have the same shape.
constexpr int64_t warm_up_updates = 3;

/// After some updates, which are not measured, prints the introduction, then answers each line of the input,
/// "SECONDS" or "profile SECONDS", by calling `update`, which returns the number of symbols read, for at
/// least this time (bench/peer.h). Returns at the end of the input.
void answer_requests(const Peer::Json& introduction, const std::function<int64_t()>& update,
                     Device device = Device::cpu, int64_t warm_up = warm_up_updates);

/// The number of symbols of the random text for a recipe of words or of characters.
int64_t vocabulary_size(const Recipe& recipe);
/// What bench/peers.py needs to know about a recipe.
Peer::Json model_of(const Recipe& recipe);

/// Trains a recipe with additional settings, "KEY=VALUE", on request.
void train_on_request(const std::string& recipe_file, const std::vector<std::string>& settings,
                      Device device);

}  // namespace rondo
