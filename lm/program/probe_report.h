// What a probe has seen, as a table for the terminal and as JSON. As pictures: lm/report/page.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lm/evaluation/probe.h"

namespace rondo {

/// {"loss", "sequences", "steps", "nats", "layers": [{"layer", "gradients", "products", "activations",
/// "gates", "singular_values"}]}; lists of steps begin with step 0 for gradients and with step 1 for
/// products. A mean of logarithms that is not finite is null.
nlohmann::ordered_json json_of(const Probed& probed);

/// The other way round, to six digits and without the numbers of sequences of each step. Exceptions of
/// nlohmann::json, and InputErrors, for what is not such an object.
Probed probed_of(const nlohmann::json& json);

/// A probe during a training, of the model after so many epochs.
struct ProbeOfEpoch {
  std::int64_t epoch = 0;
  Probed probed;
};

/// A few lines for each layer; `split` is the text of the run that was read.
std::string table_of(const std::string& run, const std::string& split, const Probed& probed);

}  // namespace rondo
