// What a training by several ranks would take.
#include "lm/program/scaling.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lm/program/output.h"
#include "lm/program/text_table.h"

namespace rondo {

ProjectedStep projected(std::int64_t ranks, std::int64_t bytes, double one, const Network& network) {
  const auto N = static_cast<double>(ranks), n = static_cast<double>(bytes);
  const double sum = 2 * (N - 1) * network.latency + 2 * (N - 1) / N * n / network.bandwidth;
  return {ranks, sum, one + sum, one / (one + sum)};
}

namespace {

/// All that the figures rest on.
std::string assumptions(const Scaled& of, const ScalingOptions& options) {
  return fmt::format(
      "Estimates for {}: {} parameters, {:.4g} MB of gradients; a step of one process takes {:.4g} s ({}); "
      "{:.4g} GB/s and {:.4g} us between ranks.",
      of.name, of.parameters, static_cast<double>(of.bytes) / 1e6, of.one,
      of.is_measured ? "measured" : "given", options.gigabytes, options.microseconds);
}

TextTable table_of(const std::vector<ProjectedStep>& projections) {
  TextColumn ranks{"ranks", false, {}}, sum{"sum of gradients, s", false, {}}, step{"step, s", false, {}},
      efficiency{"efficiency, %", false, {}}, speedup{"speed-up", false, {}};
  for (const ProjectedStep& it : projections) {
    ranks.cells.push_back(fmt::format("{}", it.ranks));
    sum.cells.push_back(fmt::format("{:.4f}", it.sum));
    step.cells.push_back(fmt::format("{:.4f}", it.step));
    efficiency.cells.push_back(fmt::format("{:.1f}", 100 * it.efficiency));
    speedup.cells.push_back(fmt::format("{:.1f}", it.speedup()));
  }
  return {ranks, sum, step, efficiency, speedup};
}

}  // namespace

void print_scaling(const Scaled& of, const ScalingOptions& options, bool as_json, bool as_markdown) {
  const Network network{options.gigabytes * 1e9, options.microseconds * 1e-6};
  std::vector<ProjectedStep> projections;
  for (const std::int64_t ranks : options.ranks)
    projections.push_back(projected(ranks, of.bytes, of.one, network));
  if (as_json) {
    nlohmann::ordered_json json{{"recipe", of.name},          {"parameters", of.parameters},
                                {"gradient_bytes", of.bytes}, {"step_seconds_of_one", of.one},
                                {"measured", of.is_measured}, {"bandwidth", network.bandwidth},
                                {"latency", network.latency}};
    for (const ProjectedStep& it : projections)
      json["projected"].push_back({{"ranks", it.ranks},
                                   {"sum_seconds", it.sum},
                                   {"step_seconds", it.step},
                                   {"efficiency", it.efficiency},
                                   {"speedup", it.speedup()}});
    print_json(json);
  } else if (as_markdown) {
    fmt::print("{}\n\n{}", assumptions(of, options), markdown_of(table_of(projections)));
  } else {
    fmt::print("{}\n\n{}", assumptions(of, options), text_of(table_of(projections)));
  }
}

}  // namespace rondo
