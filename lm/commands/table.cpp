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
      "runs that differ only in their seed share a row: mean ± sample standard deviation (divided by n - 1). "
      "Settings that differ are "
      "columns. A published figure is shown beside the same kind of model on the same text, read in the same "
      "way. Training time is that of the updates, without evaluations. A dash: no such figure.");
  add_run(app, "runs", options->runs, "run folders, and folders of sweeps");
  add_table_forms(app, options->form);
  return {&app, [options] {
            const auto [runs, status] = read_runs(options->runs);
            if (!runs.empty()) print_table(runs, options->form);
            return status;
          }};
}

}  // namespace rondo
