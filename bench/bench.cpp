// The program that `make bench` (bench/bench.py) starts: it trains lm on request, and prints tables of lm
// alone. Next: bench/worker.h, bench/tables.h.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "bench/machine.h"
#include "bench/tables.h"
#include "bench/worker.h"
#include "lm/program/compute.h"
#include "lm/program/recipe.h"
#include "nn/cells/catalogue.h"
#include "tensor/keys.h"
#include "tensor/products/gemm.h"
#include "tensor/threads.h"
#include "tensor/version.h"

namespace {

using namespace rondo;

struct Options {
  int threads = rondo::threads(), rounds = 5;
  double seconds = 2;
  std::string train, device = name_of(Device::cpu), precision = name_of(Precision::fp32), describe, table;
  bool train_mixture = false, train_translation = false;
  std::vector<std::string> settings;  // for the recipe of --train or --describe
};

/// The machine, and the names of the settings of each cell.
Json machine() {
  Json cells;
  for (const std::string& cell : cell_names()) {
    CellSettings settings;
    cells[cell] = Json::array();
    for (const Key& key : keys_of(settings, cell)) cells[cell].push_back(key.name);
  }
  return {{"cpu", cpu_model()},
          {"kernels", blas_kernel()},
          {"openblas_folder", RONDO_OPENBLAS_FOLDER},
          {"version", version()},
          {"cells", cells}};
}

Json description(const std::string& what, const std::vector<std::string>& settings) {
  if (what == "machine") return machine();
  if (what == "mixture") return {{"model", mixture_shape()}};
  if (what == "translation") return {{"model", translation_shape()}};
  const Recipe recipe = recipe_with(what, settings);
  const LanguageModel model(model_options(recipe.language_model()), vocabulary_size(recipe), 1, Device::meta);
  return {{"model", model_of(recipe)}, {"parameters", model.parameter_count()}};
}

void run(const Options& options) {
  const Device device = choose_device({*value_named<Device>(options.device),
                                       *value_named<Precision>(options.precision), options.threads})
                            .device;
  if (!options.describe.empty())
    std::cout << description(options.describe, options.settings) << std::endl;
  else if (!options.train.empty())
    train_on_request(recipe_with(options.train, options.settings), device);
  else if (options.train_mixture)
    mixture_on_request();
  else if (options.train_translation)
    translation_on_request(device);
  else if (options.table == "peaks")
    print_peaks(options.threads);
  else if (options.table == "products")
    print_products();
  else if (options.table == "adaptive")
    print_adaptive(options.rounds, options.seconds);
  else if (options.table == "generation")
    print_generation(options.rounds, options.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"The part of `make bench` that is lm's; bench/bench.py starts it.", "bench"};
  app.add_option("--threads", options.threads)->check(CLI::Range(1, max_threads));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", options.seconds, "of a turn, at least")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--device", options.device)->check(CLI::IsMember(names_of(Device())));
  app.add_option("--precision", options.precision)->check(CLI::IsMember(names_of(Precision())));
  app.add_option("--train", options.train, "train a recipe on request");
  app.add_flag("--train-mixture", options.train_mixture, "the output layer of a mixture of softmaxes");
  app.add_flag("--train-translation", options.train_translation, "an encoder-decoder");
  app.add_option("--set", options.settings, "a setting of the recipe")->allow_extra_args(false);
  app.add_option("--describe", options.describe, "machine, mixture, translation or a recipe, as JSON");
  app.add_option("table", options.table)
      ->check(CLI::IsMember({"peaks", "products", "adaptive", "generation"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
