// Trainings in a process of their own, so that their memory can be measured; and how such a process answers.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lm/program/recipe.h"
#include "lm/training/trainer.h"

namespace rondo {

using Json = nlohmann::ordered_json;

/// After some updates, which are not measured, prints the introduction, a line of JSON, then answers each
/// line of the input by another: "SECONDS" or "profile SECONDS" by calling `update`, which returns the number
/// of symbols read, for at least this time; "peak" by the machine's. Returns at the end of the input.
void answer_requests(const Json& introduction, const std::function<int64_t()>& update, Device device,
                     int64_t warm_up);

/// Trains on the next batch, of the next epoch where one ends.
void train_a_step(Trainer& trainer, Device device);

/// The number of symbols of the random text for a recipe of words or of characters.
int64_t vocabulary_size(const Recipe& recipe);
/// What bench/peers.py needs to know about a recipe.
Json model_of(const Recipe& recipe);
/// A recipe with additional settings, "KEY=VALUE".
Recipe recipe_with(const std::string& recipe_file, const std::vector<std::string>& settings);
/// Trains it on request: on random symbols, by the code that `lm train` runs.
void train_on_request(const Recipe& recipe, Device device);

/// The output layer of a mixture of softmaxes alone, with its loss and gradients, on the shape of
/// AWD-LSTM-MoS on the Penn Treebank (Yang et al. 2018).
Json mixture_shape();
void mixture_on_request();

/// The training of an encoder-decoder, of the recipe attention-multi30k, on pairs of random symbols as long
/// as sentences of Multi30k: the model, and the lengths of each batch. It counts target symbols. Beam search
/// is compared by bench/peer_translation.py.
Json translation_shape();
void translation_on_request(Device device);

}  // namespace rondo
