// Runs one command, and turns exceptions into one line and an exit status: see run_program.h.
#include "lm/program/run_program.h"

#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <system_error>
#include <variant>

#include "lm/program/command_line.h"
#include "lm/program/output.h"
#include "lm/program/signals.h"

namespace rondo {
namespace {

struct RunCommand {
  int operator()(const Help& help) const {
    std::fputs(help.text.c_str(), help.exit_status == 0 ? stdout : stderr);
    return help.exit_status;
  }
  int operator()(const TrainOptions& options) const { return train(options); }
  int operator()(const SweepOptions& options) const { return sweep(options); }
  int operator()(const EvaluateOptions& options) const { return evaluate(options); }
  int operator()(const ScoreOptions& options) const { return score(options); }
  int operator()(const GenerateOptions& options) const { return generate(options); }
  int operator()(const TranslateOptions& options) const { return translate(options); }
  int operator()(const ClassifyOptions& options) const { return classify(options); }
  int operator()(const AnswerOptions& options) const { return answer(options); }
  int operator()(const EmbedOptions& options) const { return embed(options); }
  int operator()(const TranscribeOptions& options) const { return transcribe(options); }
  int operator()(const ImportOptions& options) const { return import_weights(options); }
  int operator()(const ExportOptions& options) const { return export_run(options); }
  int operator()(const NgramOptions& options) const { return ngram(options); }
  int operator()(const BleuCommandOptions& options) const { return print_bleu(options); }
  int operator()(const InfoOptions& options) const { return info(options); }
  int operator()(const RecipesOptions& options) const { return list_recipes(options); }
  int operator()(const ProbeCommandOptions& options) const { return probe_runs(options); }
  int operator()(const TableOptions& options) const { return table(options); }
  int operator()(const PlotOptions& options) const { return plot(options); }
};

/// If a standard stream is closed, the first opened file must not take its place, and reading from it must be
/// an error; an exceeded file-size limit must be an error, not a signal that kills.
void prepare_process() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_WRONLY);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Prints one line about the exception being handled; returns the exit status.
int report_failure() {
  const Failure failure = current_failure();
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", failure.line.c_str());
  return failure.exit_status;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  prepare_process();
  try {
    const int status = std::visit(RunCommand{}, parse_command_line(argc, argv));
    if (status == 0) flush_output();  // not after a stop: a closed terminal takes no more lines
    return status;
  } catch (const Stopped& stopped) {
    return stopped.exit_status;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::broken_pipe ? 128 + SIGPIPE
                                                  : report_failure();  // where that is ignored
  } catch (...) {
    return report_failure();
  }
}

}  // namespace rondo
