// What a probe has seen.
#include "lm/program/probe_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/files/lines.h"
#include "lm/program/files.h"
#include "tensor/error.h"

namespace rondo {
namespace {

using ProbeJson = nlohmann::ordered_json;

/// Six digits: enough for a figure that is read, and logs stay small.
ProbeJson six_digits(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.6g}", value));
}

ProbeJson norms_json(const NormsByStep& norms, std::size_t first) {
  ProbeJson means = ProbeJson::array(), logs = ProbeJson::array();
  for (std::size_t t = first; t < norms.steps.size(); ++t) {
    means.push_back(six_digits(norms.mean(t)));
    logs.push_back(six_digits(norms.mean_log(t)));
  }
  return {{"norm", means}, {"log_norm", logs}};
}

ProbeJson distribution_json(const Distribution& it) {
  return {{"from", it.from()},           {"to", it.to()},
          {"counts", it.counts()},       {"mean", six_digits(it.mean())},
          {"low", six_digits(it.low())}, {"high", six_digits(it.high())}};
}

/// An object with `of` applied to each entry of a map.
template <class Map, class Of>
ProbeJson object_of(const Map& map, Of of) {
  ProbeJson object = ProbeJson::object();
  for (const auto& [name, value] : map) object[name] = of(value);
  return object;
}

/// The first and the last steps, and some between: those that fit into a line.
std::set<std::size_t> shown_steps(std::size_t last) {
  std::set<std::size_t> steps{0, 1, 5, 10, last / 2, last};
  for (const std::size_t before : {1, 5, 10}) steps.insert(last - std::min(last, before));
  std::erase_if(steps, [&](std::size_t t) { return t > last; });
  return steps;
}

std::string layer_text(const ProbedLayer& layer) {
  std::size_t last = 0;
  for (const auto& [name, norms] : layer.gradients) last = std::max(last, norms.steps.size() - 1);
  const auto by_steps = [&](auto text_of) {
    std::string line;
    for (const std::size_t t : shown_steps(last)) line += fmt::format("{:>9}", text_of(t));
    return line.substr(0, line.find_last_not_of(' ') + 1);
  };
  const auto shares = [](const Distribution& it, const char* low) {
    return fmt::format("  {:.1f} % below {}, {:.1f} % above 0.9; mean {:.3g}; range {:g} to {:g}",
                       100 * it.low(), low, 100 * it.high(), it.mean(), it.from(), it.to());
  };
  std::vector<std::pair<std::string, std::string>> lines;  // after a name each
  lines.emplace_back("step t", by_steps([](std::size_t t) { return fmt::format("{}", t); }));
  for (const auto& [name, norms] : layer.gradients)
    lines.emplace_back(fmt::format("ln |dC/d{}_t|", name), by_steps([&of = norms](std::size_t t) {
                         const bool is_there = t < of.steps.size() && std::isfinite(of.mean_log(t));
                         return is_there ? fmt::format("{:.2f}", of.mean_log(t)) : "-";
                       }));
  for (const auto& [name, norms] : layer.products)
    lines.emplace_back(fmt::format("|{} ..|", name), by_steps([&of = norms](std::size_t t) {
                         return t > 0 && t < of.steps.size() ? fmt::format("{:.3g}", of.mean(t)) : "";
                       }));
  for (const auto& [name, it] : layer.activations) lines.emplace_back(name, shares(it, "-0.9"));
  for (const auto& [name, it] : layer.gates) lines.emplace_back(name, shares(it, "0.1"));
  for (const auto& [name, values] : layer.singular_values)
    lines.emplace_back(
        name, fmt::format("  singular values {:.3g} .. {:.3g} .. {:.3g}, {} of {} above 1", values.front(),
                          values[values.size() / 2], values.back(),
                          std::ranges::count_if(values, [](double it) { return it > 1; }), values.size()));
  std::size_t width = 0;
  for (const auto& [name, line] : lines) width = std::max(width, name.size());
  std::string text = layer.name + "\n";
  for (const auto& [name, line] : lines) text += fmt::format("  {:<{}}{}\n", name, width, line);
  return text;
}

}  // namespace

ProbeJson json_of(const Probed& probed) {
  ProbeJson layers = ProbeJson::array();
  for (const ProbedLayer& it : probed.layers)
    layers.push_back(
        {{"layer", it.name},
         {"gradients",
          object_of(it.gradients, [](const NormsByStep& norms) { return norms_json(norms, 0); })},
         {"products", object_of(it.products, [](const NormsByStep& norms) { return norms_json(norms, 1); })},
         {"activations", object_of(it.activations, distribution_json)},
         {"gates", object_of(it.gates, distribution_json)},
         {"singular_values", object_of(it.singular_values, [](const std::vector<double>& values) {
            ProbeJson list = ProbeJson::array();
            for (const double value : values) list.push_back(six_digits(value));
            return list;
          })}});
  return {{"loss", probed.loss},
          {"sequences", probed.sequences},
          {"steps", probed.steps},
          {"nats", probed.nats},
          {"layers", layers}};
}

namespace {

double mean_at(const nlohmann::json& list, std::size_t i) {
  return list.at(i).is_null() ? -std::numeric_limits<double>::infinity() : list.at(i).get<double>();
}

NormsByStep norms_of(const nlohmann::json& json, std::size_t first) {
  NormsByStep norms;
  const nlohmann::json &means = json.at("norm"), &logs = json.at("log_norm");
  norms.steps.resize(first);
  for (std::size_t i = 0; i < means.size(); ++i)
    norms.steps.push_back({1, mean_at(means, i), mean_at(logs, i)});
  return norms;
}

Distribution distribution_of(const nlohmann::json& json) {
  try {
    return {json.at("from"), json.at("to"),  json.at("counts").get<std::vector<std::int64_t>>(),
            json.at("mean"), json.at("low"), json.at("high")};
  } catch (const Error& error) {
    throw InputError(error.what());
  }
}

}  // namespace

Probed probed_of(const nlohmann::json& json) {
  Probed probed{json.at("loss"), integer_at(json, "sequences"), integer_at(json, "steps"),
                figure_at(json, "nats")};
  for (const nlohmann::json& layer : json.at("layers")) {
    ProbedLayer it{layer.at("layer")};
    for (const auto& [name, norms] : layer.at("gradients").items()) it.gradients[name] = norms_of(norms, 0);
    check_input(it.gradients.contains("h"), "a layer has no gradients of h");
    for (const auto& [name, norms] : layer.at("products").items()) it.products[name] = norms_of(norms, 1);
    for (const auto& [name, of] : layer.at("activations").items())
      it.activations.insert_or_assign(name, distribution_of(of));
    for (const auto& [name, of] : layer.at("gates").items())
      it.gates.insert_or_assign(name, distribution_of(of));
    for (const auto& [name, values] : layer.at("singular_values").items())
      it.singular_values.emplace_back(name, values.get<std::vector<double>>());
    probed.layers.push_back(std::move(it));
  }
  return probed;
}

std::string table_of(const std::string& run, const std::string& split, const Probed& probed) {
  std::string text = fmt::format(
      "{}: {} sequences of the {} text, up to {} steps each, from the initial state; C, {}, is {:.4f} nats\n",
      printable(run), probed.sequences, split, probed.steps, probed.loss, probed.nats);
  for (const ProbedLayer& layer : probed.layers) text += layer_text(layer);
  return text;
}

}  // namespace rondo
