// `lm table`: what was measured of runs, beside published results. The table: lm/report/run_table.h.
#include "lm/commands/options.h"
#include "lm/report/run_table.h"

namespace rondo {

Command add_table(CommandLine& line) {
  struct Words {
    std::vector<std::string> runs;
    TableOptions table;
  };
  const auto words = std::make_shared<Words>();
  TableOptions* const options = &words->table;
  CLI::App& app = add_command(
      line, "table", "compare runs: measured figures beside published ones", "lm table runs/* --markdown",
      "Nats, bits and perplexity are per symbol, for the best model: the figures at the end of the training, "
      "and the last ones measured by `lm eval`: plain, with dynamic evaluation, with a cache, with both. "
      "Finished runs that differ only in their seed share a row: mean, standard deviation. Settings that "
      "differ between rows are columns; so is the text, if it differs: its name, and the beginning of a "
      "SHA-256 of its files' digests. A published figure is shown beside the same kind of model on the same "
      "text, read in the same way. Training time is that of the updates, without evaluations. A dash: no "
      "such figure. Without an option what all rows have in common is above the table.");
  add_run(app, "runs", words->runs, "run folders, and folders of sweeps");
  add_list(app, "--group-by", options->group_by, "KEY",
           "a setting, can be repeated: runs on one text with the same value share a row, finished and "
           "unfinished ones apart, with mean, standard deviation and number, whatever other settings differ")
      ->check(not_empty());
  add_text(app, "--sort", options->sort, "COLUMN",
           "a column, by its name or a part of it: rows in its order, what has no figure last");
  CLI::Option* json = app.add_flag("--json", options->json, "print one JSON object");
  app.get_option("--sort")->excludes(json);
  CLI::Option* markdown =
      app.add_flag("--markdown", options->markdown, "print a table for a page on GitHub")->excludes(json);
  app.add_flag("--csv", options->csv, "print comma-separated values, one number per cell")
      ->excludes(json)
      ->excludes(markdown);
  return {&app, [words] {
            const auto [runs, status] = read_runs(words->runs);
            if (!runs.empty()) print_table(runs, words->table);
            return status;
          }};
}

}  // namespace rondo
