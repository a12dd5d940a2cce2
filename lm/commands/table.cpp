// `lm table`: what was measured of runs, beside published results. The table: lm/report/run_groups.h.
#include "lm/commands/options.h"
#include "lm/report/run_groups.h"

namespace rondo {

Command add_table(CommandLine& line) {
  struct TableOptions {
    std::vector<std::string> runs;
    TableForm* form = text_of;
  };
  const auto options = std::make_shared<TableOptions>();
  CLI::App& app = add_command(
      line, "table", "compare runs: measured figures beside published ones", "lm table runs/* --markdown",
      "The figures of the best model at the end of the training, and the last ones of `lm eval`. Finished "
      "runs that differ only in their seed share a row: mean, standard deviation. Settings that differ are "
      "columns. A published figure is shown beside the same kind of model on the same text, read in the same "
      "way. Training time is that of the updates, without evaluations. A dash: no such figure.");
  add_run(app, "runs", options->runs, "run folders, and folders of sweeps");
  const auto add_form = [&](const char* name, TableForm* form, const char* what) {
    const auto set = [options, form](std::int64_t) { options->form = form; };
    return app.add_flag_function(name, set, what);
  };
  CLI::Option* json = add_form("--json", json_text_of, "print one JSON object");
  CLI::Option* markdown =
      add_form("--markdown", markdown_of, "print a table for a page on GitHub")->excludes(json);
  add_form("--csv", csv_of, "print comma-separated values, one number per cell")
      ->excludes(json)
      ->excludes(markdown);
  return {&app, [options] {
            const auto [runs, status] = read_runs(options->runs);
            if (!runs.empty()) print_table(runs, options->form);
            return status;
          }};
}

}  // namespace rondo
