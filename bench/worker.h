// One recipe trained in a process of its own, whose memory is then the recipe's alone; and how such a process
// answers. Next: bench/mixture.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/peer.h"
#include "lm/program/recipe.h"
#include "tensor/backend.h"

namespace rondo {

/// Says what it is, then answers each line of the input, "SECONDS" or "profile SECONDS", by doing `update`,
/// which returns the symbols it has read, for at least so long (bench/peer.h). Returns at the end of the
/// input.
void answer_requests(const Peer::Json& introduction, const std::function<int64_t()>& update,
                     Device device = Device::cpu);

/// Recipes for words and for characters read random symbols out of so many.
int64_t vocabulary_size(const Recipe& recipe);
constexpr int warm_up_updates = 3;

/// What bench/peers.py needs to know of a recipe.
Peer::Json model_of(const Recipe& recipe);

/// Trains a recipe with further settings, "KEY=VALUE", on request.
void train_on_request(const std::string& recipe_file, const std::vector<std::string>& settings,
                      Device device);

}  // namespace rondo
