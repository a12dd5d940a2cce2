// `make bench`: lm and PyTorch train the recipes of bench/ on random symbols, in turns on the same threads;
// then where lm's time goes, a mixture of softmaxes and an adaptive one, the cost of each cell, and busy
// machines. It only reports: machines differ and their speed drifts, so compare figures of one run, best the
// ratios of each round. Next: bench/worker.h (lm's side), bench/peers.py (PyTorch's), bench/cell_costs.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bench/adaptive.h"
#include "bench/busy_machine.h"
#include "bench/cell_costs.h"
#include "bench/functions.h"
#include "bench/generation.h"
#include "bench/machine.h"
#include "bench/mixture.h"
#include "bench/peer.h"
#include "bench/products.h"
#include "bench/report.h"
#include "bench/translation.h"
#include "bench/worker.h"
#include "lm/program/compute.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "tensor/keys.h"
#include "tensor/products/gemm.h"
#include "tensor/threads.h"
#include "tests/lm/training/training.h"

namespace {

using namespace rondo;
namespace fs = std::filesystem;
using Json = Peer::Json;

const std::string folder = RONDO_SOURCE_DIR "/bench/";

struct Options {
  int threads = rondo::threads(), rounds = 5;
  double seconds = 2;
  bool no_products = false;
  std::vector<std::string> peers, recipes;
  std::string log;
  std::string train, device = name_of(Device::cpu), precision = name_of(Precision::fp32);
  bool train_mixture = false, train_translation = false;
  std::vector<std::string> settings;  // for the recipe of --train
};

/// Instead of a recipe's name: the table of the cells, the output layer of a mixture, an adaptive softmax, an
/// encoder-decoder, generation, busy machines.
const std::string cells = "cells", mixture = "mixture", adaptive = "adaptive", translation = "translation",
                  generation = "generation", busy = "busy";

/// The fastest configuration of PyTorch on a CPU: OpenBLAS with the same kernels and threads as lm (the name
/// of the kernels is already in our environment), and an allocator that keeps memory instead of mapping it
/// anew for each large tensor.
Peer::Environment peer_environment(int threads) {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  const std::string huge = std::to_string(int64_t{1} << 32);
  return {{"OMP_NUM_THREADS", std::to_string(threads)},
          {"LD_LIBRARY_PATH", RONDO_OPENBLAS_FOLDER + (path ? ":" + std::string(path) : "")},
          {"MALLOC_MMAP_THRESHOLD_", huge},
          {"MALLOC_TRIM_THRESHOLD_", huge},
          {"MALLOC_TOP_PAD_", std::to_string(1 << 26)}};
}

/// Starts a program that trains the recipe; null, after a line that says so, if that fails.
std::unique_ptr<Contestant> contestant(const std::vector<std::string>& command,
                                       const Peer::Environment& environment, const std::string& variant,
                                       Precision precision) {
  try {
    auto it = std::make_unique<Contestant>(command, environment, precision);
    it->introduction = it->process.read();
    it->name = it->introduction.at("what");
    if (it->introduction.contains("optimizer"))
      it->name += ", " + it->introduction["optimizer"].get<std::string>() + " optimizer";
    if (!variant.empty()) it->name += ", " + variant;
    if (precision != Precision::fp32) it->name += ", " + name_of(precision);
    return it;
  } catch (const std::exception& error) {
    fmt::print("  left out: {}\n", error.what());
    return nullptr;
  }
}

using Contestants = std::vector<std::unique_ptr<Contestant>>;

/// lm, started with `words`, and its peers in each of their variants, with `model` as theirs; in fp32 and in
/// bf16.
Contestants contestants(const Options& options, const std::vector<std::string>& words, const Json& model,
                        const std::vector<std::string>& variants) {
  const std::string threads = std::to_string(options.threads);
  Contestants all;
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    std::vector<std::string> command{"/proc/self/exe", "--threads", threads, "--precision",
                                     name_of(precision)};
    command.insert(command.end(), words.begin(), words.end());
    all.push_back(contestant(command, {}, "", precision));
    check(all.back() != nullptr, "lm does not train");
    all.back()->is_lm = true;
    for (const std::string& python : options.peers)
      for (const std::string& variant : variants) {
        auto peer =
            contestant({python, folder + "peers.py", model.dump(), variant, threads, name_of(Device::cpu),
                        name_of(precision)},
                       peer_environment(options.threads), variants.size() > 1 ? variant : "", precision);
        if (peer) all.push_back(std::move(peer));
      }
  }
  return all;
}

Multiplication multiplication_of(Precision precision) {
  return precision == Precision::bf16 ? fastest_multiplication_of_bf16() : multiplication_of_fp32();
}

/// All take turns; `row` names the line that is added to the log.
void compete(const Options& options, const std::string& row, const Contestants& all) {
  Idleness idleness;
  for (int round = 0; round < options.rounds; ++round)
    for (const auto& it : all) {
      idleness.wait();
      if (it->is_lm)
        it->peaks.push_back(measured_peak(*multiplication_of(it->precision).kernels, options.threads));
      idleness.begin_turn(it->process.pid());
      const Json answer = it->process.ask(fmt::format("{}", options.seconds));
      idleness.end_turn(it->process.pid());
      it->rates.push_back(answer.at("symbols").get<double>() / answer.at("seconds").get<double>());
      it->system_allocations += answer.value("system_allocations", int64_t{0});
      it->peak_bytes = peak_resident_bytes(it->process.pid());
    }
  report_speeds(all);
  idleness.report();
  for (const auto& it : all)
    if (it->is_lm) report_profile(*it, it->process.ask(fmt::format("profile {}", options.seconds)));
  std::fflush(stdout);
  if (options.log.empty()) return;
  std::ofstream log(options.log, std::ios::app);
  log << Json{{"row", row},
              {"cpu", cpu_model()},
              {"threads", options.threads},
              {"seconds_of_a_turn", options.seconds},
              {"version", version()},
              {"disturbed_turns", idleness.disturbed()},
              {"contestants", records_of(all)}}
      << std::endl;
  check(log.good(), "{} cannot be written", options.log);
}

void bench_mixture(const Options& options) {
  const Json shape = mixture_shape();
  fmt::print(
      "\nmixture of {} softmaxes, output layer, loss and gradients alone: {} rows, embedding {}, V {}\n",
      shape.at("experts").get<int>(), shape.at("rows").get<int>(), shape.at("embedding").get<int>(),
      shape.at("vocabulary").get<int>());
  compete(options, mixture,
          contestants(options, {"--train-mixture"}, shape, {"probabilities", "logarithms"}));
}

void bench_translation(const Options& options) {
  const Json shape = translation_shape();
  fmt::print("\ntranslation: attention-multi30k, V {} and {}, B {}, target symbols\n",
             shape.at("source_vocabulary").get<int>(), shape.at("target_vocabulary").get<int>(),
             shape.at("batches").at(0).at(0).size());
  compete(options, translation, contestants(options, {"--train-translation"}, shape, {"common"}));
}

void bench(const Options& options, const fs::path& file) {
  const Recipe recipe = load_recipe(file.string());
  const LanguageModelOptions model = model_options(recipe.language_model());
  fmt::print("\n{}: {} of {} units, embedding {}, V {}, B {}, T {}, {}\n", recipe.name,
             recipe.language_model().model.cell, fmt::join(model.hidden, ", "),
             recipe.language_model().model.embedding, vocabulary_size(recipe),
             recipe.language_model().train.batches.batch, recipe.language_model().train.batches.chunks.length,
             name_of(recipe.trainer.optimizer.kind));
  const bool in_torch_nn = recipe.language_model().model.cell == "lstm";
  compete(options, recipe.name,
          contestants(options, {"--train", file.string()}, model_of(recipe),
                      in_torch_nn ? std::vector<std::string>{"common"}
                                  : std::vector<std::string>{"common", "hoisted"}));
}

/// The interpreters that can be peers; prints a line about each.
std::vector<std::string> usable_peers(const Options& options) {
  std::vector<std::string> usable;
  for (const std::string& python :
       options.peers.empty() ? std::vector<std::string>{"/usr/bin/python3"} : options.peers)
    try {
      Peer peer({python, folder + "peers.py"}, peer_environment(options.threads));
      const Json it = peer.read();
      fmt::print("  {}: {}, {}; {:.0f} MB before it has a model\n", python, it.at("what").get<std::string>(),
                 it.at("kernels").get<std::string>(), peak_resident_bytes(peer.pid()) / 1e6);
      usable.push_back(python);
    } catch (const std::exception& error) {
      fmt::print("  no peer: {}\n", error.what());
    }
  if (usable.empty() && options.peers.empty())
    fmt::print(
        "  To compare with PyTorch: apt-get install python3-torch, or PEERS=\"PYTHON ...\" for interpreters "
        "that "
        "have it.\n");
  return usable;
}

std::vector<fs::path> recipe_files(const std::vector<std::string>& names) {
  std::vector<fs::path> all;
  std::vector<std::string> all_names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  if (names.empty()) return all;
  for (const fs::path& file : all) all_names.push_back(file.stem());
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    files.emplace_back(name.ends_with(".toml") ? name : folder + name + ".toml");
    check(fs::exists(files.back()), "there is no recipe '{}' in bench/; there are {}, {}", name,
          fmt::join(all_names, ", "),
          fmt::join(std::array{cells, mixture, adaptive, translation, generation, busy}, ", "));
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Speed, where the time goes, and memory of lm, beside PyTorch.", "bench"};
  app.add_option("--threads", options.threads,
                 "of lm and of its peers (default: OMP_NUM_THREADS, else one per core)")
      ->check(CLI::Range(1, max_threads));
  app.add_option("--rounds", options.rounds, "in each of which all train in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "of a turn, at least")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_option("--log", options.log,
                 "a file to which each training's figures are added, one JSON object a line: for "
                 "bench/speed_table.py");
  app.add_flag("--no-products", options.no_products, "leave out the table of matrix products");
  app.add_option("--peer", options.peers, "a Python interpreter with PyTorch; may be given again")
      ->allow_extra_args(false);
  app.add_option("--train", options.train)->group("");  // the process that trains one recipe
  app.add_option("--device", options.device)->check(CLI::IsMember(names_of(Device())))->group("");
  app.add_option("--precision", options.precision)->check(CLI::IsMember(names_of(Precision())))->group("");
  app.add_flag("--train-mixture", options.train_mixture)->group("");
  app.add_flag("--train-translation", options.train_translation)->group("");
  app.add_option("--set", options.settings)->group("")->allow_extra_args(false);
  app.add_option(
      "recipe", options.recipes,
      "names of files in bench/; `mixture`: the output layer of a mixture of softmaxes; `adaptive`: an "
      "adaptive softmax beside the full one; `translation`: an encoder-decoder; `generation`: of one "
      "sequence, beside the memory's bandwidth; `cells`: what each "
      "cell costs beside the LSTM; `busy`: beside busy processes (default: all)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const Device device = choose_device({*value_named<Device>(options.device),
                                         value_named<Precision>(options.precision), options.threads})
                              .device;
    if (!options.train.empty()) {
      train_on_request(options.train, options.settings, device);
      return 0;
    }
    if (options.train_mixture) {
      mixture_on_request();
      return 0;
    }
    if (options.train_translation) {
      translation_on_request(device);
      return 0;
    }
    check(options.log.empty() || std::ofstream(options.log, std::ios::app).good(), "{} cannot be written",
          options.log);
    const bool all = options.recipes.empty();
    const bool with_mixture = std::erase(options.recipes, mixture) > 0 || all;
    const bool with_adaptive = std::erase(options.recipes, adaptive) > 0 || all;
    const bool with_translation = std::erase(options.recipes, translation) > 0 || all;
    const bool with_generation = std::erase(options.recipes, generation) > 0 || all;
    const bool with_cells = std::erase(options.recipes, cells) > 0 || all;
    const bool with_busy = std::erase(options.recipes, busy) > 0 || all;
    const bool with_recipes = all || !options.recipes.empty();
    const std::vector<fs::path> files =
        with_recipes ? recipe_files(options.recipes) : std::vector<fs::path>();
    fmt::print("{}, threads: {}, OpenBLAS kernels {}\n", cpu_model(), threads(), blas_kernel());
    if (!wait_for_idle_machine()) fmt::print("  The machine is not idle: all figures are in doubt.\n");
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      const Multiplication by = multiplication_of(precision);
      fmt::print("  peak in {} by {}: {:.0f} GFLOP/s with one thread", name_of(precision), name_of(by),
                 measured_peak(*by.kernels, 1));
      if (options.threads > 1)
        fmt::print(", {:.0f} with {}", measured_peak(*by.kernels, options.threads), options.threads);
      fmt::print("\n");
    }
    if (with_recipes) print_functions();
    if (with_recipes || with_mixture || with_translation) {
      options.peers = usable_peers(options);
      std::fflush(stdout);
    }
    if (with_recipes && !options.no_products) print_products();
    for (const fs::path& file : files) bench(options, file);
    if (with_mixture) bench_mixture(options);
    if (with_adaptive) print_adaptive(options.rounds, options.seconds);
    if (with_translation) bench_translation(options);
    if (with_generation) print_generation(options.rounds, options.seconds);
    if (with_cells) print_cell_costs(options.threads, options.rounds, options.seconds);
    if (with_busy) print_busy_machine(options.threads, options.rounds, options.seconds);
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
