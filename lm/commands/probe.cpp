// `lm probe`: what goes on inside the recurrent layers of a run's best model, as a table, as JSON and as
// pictures. What is looked at: lm/evaluation/probe.h. During a training: train.probe_every. Next:
// lm/program/probe_report.h.
#include "lm/evaluation/probe.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/probe_report.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/page.h"

namespace rondo {
namespace {

struct ProbeCommandOptions : ComputeOptions {
  std::vector<std::string> runs;
  std::string split = "valid";            // train, valid or test of the run's data
  std::string data;                       // where the runs' text is now; empty: not moved
  std::optional<std::int64_t> steps;      // of a language model; none: train.length
  std::optional<std::int64_t> sequences;  // none: ProbeOptions
  std::string svg;                        // a folder for pictures; empty: none
  bool json = false;
};

Probed probe_run(const std::string& path, const ProbeCommandOptions& options, Device device,
                 Progress& progress) {
  const OpenRun run = open_run(path, device);
  Task& task = run.task();
  check_input(!options.steps || run.config.recipe.language_modelling(),
              "--steps: {} is of the task {}, which reads whole sentences; leave it out", path,
              run.config.recipe.task_name);
  ProbeOptions how = task.probe_options();
  how.steps = options.steps.value_or(how.steps);
  how.sequences = options.sequences.value_or(how.sequences);
  open_text_of_run(run, options.data);
  return task.probe(*run.model, options.split, how, progress_of(progress, "probing " + path, how.sequences));
}

nlohmann::ordered_json json_of(const std::vector<ProbedRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProbedRun& it : runs) {
    nlohmann::ordered_json entry{{"run", it.run->path}, {"probed", it.split}};
    entry.update(json_of(it.probed));
    list.push_back(entry);
  }
  return {{"runs", list}};
}

/// Prints a table of each run on stdout. Returns 0.
int probe_runs(const ProbeCommandOptions& options) {
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  const Compute compute = choose_device(options);
  std::vector<ProbedRun> runs;
  for (const std::string& path : options.runs) {
    Progress progress(stderr);
    Probed probed = probe_run(path, options, compute.device, progress);
    runs.push_back({std::make_shared<const RunRecord>(read_log(path)), options.split, std::move(probed)});
    progress.erase();
    if (!options.json) fmt::print("{}", table_of(path, options.split, runs.back().probed));
  }
  if (options.json) print_json(json_of(runs));
  flush_output();
  if (!options.svg.empty()) write_pictures("--svg", options.svg, pictures_of(runs));
  return 0;
}

}  // namespace

Command add_probe(CommandLine& line) {
  const auto options = std::make_shared<ProbeCommandOptions>();
  CLI::App& app = add_command(
      line, "probe", "look into the recurrent layers of a model: gradients, activations, gates, weights",
      "lm probe runs/mi-ptb-rnn-1 runs/mi-ptb-mi-rnn-1 --svg pictures",
      "The model reads sequences of the text, each from the initial state. ln |dC/dh_t|: the mean logarithm "
      "of the norm of the gradient of the loss by the state after step t. |weight ..|: the mean norm of a "
      "weight's product at step t. Of activations and gates, s(.), the shares that are saturated.");
  add_run(app, "runs", options->runs, "run folders");
  app.add_option("--split", options->split, "train, valid or test of the run's data")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_text(app, "--data", options->data, "DIR|FILE", "where the runs' text lies now, if it has moved");
  add_value(app, "--steps", options->steps, "N", integer(1, 100000),
            "symbols of each sequence (default: the run's train.length)");
  add_value(app, "--sequences", options->sequences, "N", integer(1),
            fmt::format("sequences or sentences, at equal distances in the text (default: {})",
                        ProbeOptions().sequences));
  add_text(app, "--svg", options->svg, "FOLDER", "a folder for pictures");
  add_device(app, *options);
  app.add_flag("--json", options->json, "print one JSON object");
  return {&app, [options] { return probe_runs(*options); }};
}

}  // namespace rondo
