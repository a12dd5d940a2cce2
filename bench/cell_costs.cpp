// The cost of each cell. The base is bench/char-lstm.toml; each cell trains in a process of its own.
#include "bench/cell_costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "bench/machine.h"
#include "bench/report.h"
#include "bench/worker.h"
#include "lm/program/recipe.h"
#include "nn/cells/catalogue.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

const std::string base = RONDO_SOURCE_DIR "/bench/char-lstm.toml";

/// The LSTM's width; it has 1.6M parameters, and the other cells as nearly as their width allows.
constexpr int64_t lstm_width = 600;

/// A remark for a row; empty: none.
std::string remark_on(const std::string& cell) {
  if (cell == "trnn")
    return "a matrix for each stream and step; of a third of the parameters, for its memory";
  if (traits_of(cell).looks_across_rows) return "statistics of the batch at each step";
  return "";
}

std::vector<std::string> settings_of(const std::string& cell, int64_t width) {
  std::vector<std::string> settings = {"model.cell=" + cell, fmt::format("model.hidden={}", width),
                                       // The cost of an update does not depend on its size; with a small one
                                       // no cell diverges on random symbols.
                                       "train.learning_rate=0.00001"};
  CellSettings of_cell;
  bool has_biases = false;
  for (const Key& key : keys_of(of_cell, cell)) {
    has_biases |= key.name == "biases";
    if (key.name == "intermediate")
      settings.push_back(fmt::format("model.intermediate={}", width));  // as Krause et al. 2016
  }
  if (!has_biases) settings.push_back("model.biases=2");  // the default: the cell has no such setting
  return settings;
}

int64_t parameters_of(const std::string& cell, int64_t width) {
  std::vector<Setting> settings;
  for (const std::string& text : settings_of(cell, width)) settings.push_back(parse_setting(text));
  const Recipe recipe = resolve_recipe(base, settings);
  return LanguageModel(model_options(recipe.language_model()), vocabulary_size(recipe), 1, Device::meta)
      .parameter_count();
}

/// The width whose number of parameters is nearest to `parameters`.
int64_t width_of(const std::string& cell, int64_t parameters) {
  int64_t below = 1, above = 2;
  while (parameters_of(cell, above) < parameters) below = above, above *= 2;
  while (above - below > 1) {
    const int64_t middle = (below + above) / 2;
    (parameters_of(cell, middle) < parameters ? below : above) = middle;
  }
  return parameters - parameters_of(cell, below) < parameters_of(cell, above) - parameters ? below : above;
}

std::unique_ptr<Contestant> start(const std::string& cell, int64_t width, int threads) {
  const std::string its_threads = std::to_string(threads);
  std::vector<std::string> command{"/proc/self/exe", "--train", base, "--threads", its_threads};
  for (const std::string& setting : settings_of(cell, width)) {
    command.push_back("--set");
    command.push_back(setting);
  }
  auto it = std::make_unique<Contestant>(command, Peer::Environment{});
  it->introduction = it->process.read();
  return it;
}

int64_t parameters_of(const Contestant& it) { return it.introduction.at("parameters").get<int64_t>(); }

/// Trains for `seconds` and returns nanoseconds per symbol.
double turn(Contestant& it, double seconds, Idleness& idleness) {
  idleness.wait();
  idleness.begin_turn(it.process.pid());
  const Peer::Json answer = it.process.ask(fmt::format("{}", seconds));
  idleness.end_turn(it.process.pid());
  it.rates.push_back(answer.at("symbols").get<double>() / answer.at("seconds").get<double>());
  return 1e9 / it.rates.back();
}

void print_row(const std::string& cell, int64_t width, const Contestant& it,
               const std::vector<double>& costs) {
  const double rate = median(it.rates);
  fmt::print("  {:<18} {:>5} {:>10} {:>10.0f} {:>10.0f}  {:>5.2f}x ({:.2f})", cell, width, parameters_of(it),
             rate, 1e9 / rate, median(costs), fmt::join(costs, " "));
  const std::string remark = remark_on(cell);
  fmt::print("{}{}\n", remark.empty() ? "" : "  ", remark);
  std::fflush(stdout);
}

}  // namespace

void print_cell_costs(int threads, int rounds, double seconds) {
  const Recipe recipe = load_recipe(base);
  const int64_t parameters = parameters_of("lstm", lstm_width);
  fmt::print(
      "\ncost of the cells: one layer on characters, embedding {}, V {}, B {}, T {}, {}, about {:.1f}M "
      "parameters\n",
      recipe.language_model().model.embedding, vocabulary_size(recipe),
      recipe.language_model().train.batches.batch, recipe.language_model().train.batches.chunks.length,
      name_of(recipe.trainer.optimizer.kind), 1e-6 * static_cast<double>(parameters));
  fmt::print("  {:<18} {:>5} {:>10} {:>10} {:>10}  per parameter and symbol, to the LSTM: median, rounds\n",
             "cell", "H", "parameters", "symbols/s", "ns/symbol");
  Idleness idleness;
  const auto lstm = start("lstm", lstm_width, threads);
  for (const std::string& cell : cell_names()) {
    try {
      const int64_t width = width_of(cell, cell == "trnn" ? parameters / 3 : parameters);
      const auto other = start(cell, width, threads);
      std::vector<double> costs;
      for (int round = 0; round < rounds; ++round) {
        const double its = turn(*lstm, seconds, idleness), cells = turn(*other, seconds, idleness);
        costs.push_back(cells / static_cast<double>(parameters_of(*other)) /
                        (its / static_cast<double>(parameters_of(*lstm))));
      }
      print_row(cell, width, *other, costs);
    } catch (const std::exception& error) {
      fmt::print("  {:<18} left out: {}\n", cell, error.what());
    }
  }
  idleness.report();
}

}  // namespace rondo
