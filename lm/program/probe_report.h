// What a probe has seen, as a table for the terminal and as JSON. As pictures: lm/program/probe_pictures.h.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lm/evaluation/probe.h"
#include "lm/program/run_folder.h"

namespace rondo {

/// {"loss", "sequences", "steps", "nats", "layers": [{"layer", "gradients", "products", "activations",
/// "gates", "singular_values"}]}; lists of steps begin with step 0 for gradients and with step 1 for
/// products. A mean of logarithms that is not finite is null.
nlohmann::ordered_json json_of(const Probed& probed);

/// The other way round, to six digits and without the numbers of sequences of each step. Exceptions of
/// nlohmann::json, and InputErrors, for what is not such an object.
Probed probed_of(const nlohmann::json& json);

/// What log.jsonl has of a training: what its probes saw, by epoch, and its evaluations.
struct ProbeHistory {
  struct Gradients {
    std::int64_t epoch = 0;
    std::vector<double> log_norms{};  // of h, by step from 0; NaN where it is null
  };
  std::map<std::string, std::vector<Gradients>> gradients{};  // by layer
  std::string figure{};                                       // "bits", "accuracy", ...
  std::vector<std::pair<double, double>> evaluations{};       // by epoch
};
/// InputError, naming the line, for a log that is broken.
ProbeHistory history_of(const RunFolder& run);

struct ProbedRun {
  std::string run, split;
  Probed probed;
  ProbeHistory history{};
};
/// A few lines for each layer.
std::string table_of(const ProbedRun& run);

}  // namespace rondo
