// `lm quantize`: a run of another one's model, with weights in int8, for use and not for training. The file
// of weights: lm/training/checkpoint.h.
#include <filesystem>
#include <set>
#include <string>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/commands/options.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

struct QuantizeOptions {
  std::string run, out, command;
};

/// Makes the folder. Returns 0. InputError for a run whose weights are in int8 already.
int quantize_run(const QuantizeOptions& options) {
  OpenRun run = open_run(options.run);
  Provenance& made_by = run.config.made_by;
  check_input(made_by.precision != Precision::int8, "{}: its weights are in int8 already", options.run);
  made_by.precision = Precision::int8;
  made_by.command = options.command;
  const RunFolder& from = run.folder;
  const std::set<std::filesystem::path> others = {from.config(), from.model(), from.state(), from.log(),
                                                  from.evaluations()};
  const RunFolder made = make_whole_folder(options.out, "", [&](const RunFolder& to) {
    for (const auto& entry : std::filesystem::directory_iterator(from.path))  // vocabularies, classes
      if (is_file_of_run(entry.path()) && !others.contains(entry.path()))
        write_atomically(to.path / entry.path().filename(), read_file(entry.path(), Pipes::refused));
    save_model_in_int8(to.model(), *run.model);
    write_config(to, run.config);  // last: what has one is a run
  });
  const auto megabytes = [](const auto& file) { return double(std::filesystem::file_size(file)) / 1e6; };
  print_line(fmt::format("{}: {:.1f} MB of weights, {:.1f} before; what it costs: {}", options.out,
                         megabytes(made.model()), megabytes(from.model()),
                         command_with({"eval", options.out})));
  return 0;
}

}  // namespace

Command add_quantize(CommandLine& line) {
  const auto options = std::make_shared<QuantizeOptions>();
  CLI::App& app = add_command(line, "quantize", "round a model's weights to 8 bits, for use on a CPU",
                              "lm quantize runs/awd-lstm-ptb-1 --out runs/awd-lstm-ptb-int8",
                              "The new run is for use, not for training. Of each row of a matrix the largest "
                              "magnitude is 127 steps.");
  add_run(app, "run", options->run, "the run folder");
  add_text(app, "--out", options->out, "RUN8", "the run folder to make")->required();
  return {&app, [options, &line] {
            options->command = shell_command(line.words);
            return quantize_run(*options);
          }};
}

}  // namespace rondo
