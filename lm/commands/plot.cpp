// `lm plot`: its options. The page: lm/report/page.cpp.
#include "lm/commands/options.h"
#include "lm/report/page.h"

namespace rondo {

Command add_plot(CommandLine& line) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App& app = add_command(
      line, "plot", "draw learning curves, sweeps, probes and attention as a page",
      "lm plot runs/* --out curves.html",
      "The page needs no other file, no script and no network. The colour of a run is the same in all its "
      "diagrams. A published figure is drawn where lm table shows it. Probes are those of train.probe_every. "
      "lm train writes such a page, plot.html in its run folder, after each epoch and with each saved "
      "state.");
  add_run(app, "runs", options->runs, "run folders, or folders of sweeps");
  add_text(app, "--out", options->out, "FILE.html",
           "the page to write, in HTML (default: plot.html; of one run or sweep, in its folder)");
  add_choice<CurveAxis>(app, "--x", options->curves.x, "the x axis of curves: step, epoch or time")
      ->default_str(name_of(options->curves.x));
  add_choice<PublishedUnit>(app, "--unit", options->curves.unit,
                            "of losses: perplexity, bits or nats (default: perplexity of words, bits of "
                            "characters, else nats)");
  add_text(app, "--attention", options->attention, "FILE.jsonl",
           "draw what lm translate or lm answer --attention wrote");
  add_text(app, "--svg", options->svg, "FOLDER", "a folder for the diagrams as pictures, a file in SVG each");
  add_text(app, "--csv", options->csv, "FOLDER",
           "a folder for the curves as numbers: training.csv, validation.csv");
  add_sweep_plot(app, options->drawn);
  return {&app, [options] { return plot(*options); }};
}

}  // namespace rondo
