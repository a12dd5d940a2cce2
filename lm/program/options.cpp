// The parser, and the options of the commands that train, measure and show. Next:
// lm/program/options_of_use.cpp.
#include "lm/program/options.h"

#include <fmt/format.h>

#include <limits>

#include "lm/program/option_parts.h"
#include "lm/program/version.h"

namespace rondo {
namespace {

constexpr const char* data_text =
    "a folder with train.txt, valid.txt and perhaps test.txt; or one text file, split into 90 % train, 5 % "
    "valid, 5 % test";

void add_steps(CLI::App& to, std::string& steps) {
  to.add_option("--steps", steps,
                "end after this many updates of the weights, whatever --epochs says; 0: epochs end it")
      ->type_name("N")
      ->check(integer(0));
}

/// Of a training: where it ends, and what it prints.
void add_limits(CLI::App& to, std::string& steps, TrainOptions& options) {
  add_steps(to, steps);
  to.add_option(
        "--max-minutes", options.max_minutes,
        "end after this many minutes: save the state, evaluate, keep the best model; --resume continues")
      ->check(in_range(std::numeric_limits<double>::min(), 1e9, "a number above 0"))
      ->type_name("M");
  to.add_flag("--quiet", options.quiet, "print nothing but the run's folder at the end, warnings and errors");
}

void add_sweep_plot(CLI::App& to, SweepPlotOptions& options) {
  to.add_option(
        "--over", options.over,
        "the x axis of a sweep's diagram: a setting, or parameters (default: the setting that varies, if "
        "there is one and its values are numbers)")
      ->type_name("KEY")
      ->check(not_empty);
  to.add_option("--band", options.band,
                fmt::format("mark figures within W of the recipe's own settings, or of the best; 0: none "
                            "(default: {} for perplexity, else none)",
                            default_band))
      ->check(in_range(0.0, 1e6, "a number, 0 or above"))
      ->type_name("W");
}

}  // namespace

CLI::App& Options::command(const std::string& name, const std::string& what, const std::string& example) {
  CLI::App& added = *app.add_subcommand(name, what);
  added.group("Commands");
  added.footer("\nExample:\n  " + example);  // after what the command adds
  added.allow_extras();                      // leftover words get an error text of our own
  return added;
}

Options::Options() {
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "lm (Rondo) " + version(), "print the version");
  app.footer(
      "lm COMMAND --help and lm help COMMAND have details and an example.\n\n"
      "Exit status: 0 done, 1 failed while running, 2 bad input or usage,\n"
      "130, 143, 129 or 141 stopped by Ctrl-C, SIGTERM, SIGHUP or a closed pipe; a training has saved its\n"
      "state.");

  add_train();
  add_sweep();
  add_finetune();
  add_eval();
  add_score();
  add_generate();
  add_translate();
  add_classify();
  add_answer();
  add_embed();
  add_transcribe();
  add_import();
  add_export();
  add_ngram();
  add_bleu();
  add_info();
  add_recipes();
  add_probe();
  add_table();
  add_plot();
  add_help();
}

void Options::add_help() {
  command("help", "explain a command, as its --help does", "lm help train")
      .add_option("command", explained, "one of those that lm --help lists (default: all of them)")
      ->type_name("COMMAND");
}

void Options::add_train() {
  CLI::App& train_command =
      command("train", "train a model", "lm train --recipe char-lstm --data book.txt --epochs 5");
  train_command.add_option("--recipe", train.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  train_command.add_option("--data", train.data, data_text)->type_name("DIR|FILE")->check(not_empty);
  train_command.add_option("--out", train.out, "the run folder to make (default: runs/RECIPE-N)")
      ->type_name("RUN")
      ->check(not_empty);
  train_command
      .add_option("--init-from", train.init_from,
                  "begin with the best weights of this run, on the text of --data: its settings, its "
                  "vocabulary, not its text; in place of --recipe")
      ->type_name("RUN")
      ->check(not_empty);
  train_command.add_option("--epochs", epochs, "times to read the training text (default: the recipe's)")
      ->type_name("N")
      ->check(not_empty);
  add_limits(train_command, steps, train);
  train_command.add_option("--seed", seed, "of weights and dropout (default: the recipe's, else 1)")
      ->type_name("N")
      ->check(not_empty);
  train_command
      .add_option("--set", train_sets,
                  "any setting of the recipe, can be repeated; `lm info --keys --recipe NAME` lists them")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_device(train_command, train);
  train_command.add_flag("--resume", train.resume,
                         "continue the run at --out; only --epochs, --steps, --max-minutes, --device, "
                         "--precision, --threads and where --data lies may change");
}

void Options::add_sweep() {
  CLI::App& sweep_command = command("sweep", "train every combination of settings, with several seeds",
                                    "lm sweep --recipe char-lstm --data book.txt --epochs 5 --set "
                                    "model.hidden=128,256,512 --seeds 3 --out runs/sizes");
  sweep_command.footer(
      "Each run is that of lm train with these settings, in a folder of --out that is named after them. At\n"
      "the end comes a table: mean and standard deviation over seeds, and the best on valid; and sweep.svg "
      "in\n"
      "--out shows it. Ctrl-C stops, and the same command continues: finished runs are kept, stopped ones\n"
      "resumed. lm table FOLDER shows the table again.\n" +
      sweep_command.get_footer());
  sweep_command.add_option("--recipe", sweep.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  sweep_command.add_option("--data", sweep.data, data_text)->type_name("DIR|FILE")->check(not_empty);
  sweep_command
      .add_option("--out", sweep.out, "the folder to make, or to continue in (default: runs/RECIPE-sweep)")
      ->type_name("FOLDER")
      ->check(not_empty);
  sweep_command
      .add_option("--set", sweep_sets,
                  "a setting with one or several values, can be repeated; a list is a value in [ ]. Settings "
                  "that vary together: --set model.hidden:model.dropout=650:0.5,1500:0.65")
      ->type_name("KEY=VALUE,...")
      ->expected(1)
      ->take_all();
  sweep_command
      .add_option("--epochs", epochs, "times that each run reads the training text (default: the recipe's)")
      ->type_name("N")
      ->check(not_empty);
  add_steps(sweep_command, steps);
  sweep_command.add_option("--seeds", sweep.seeds, "runs of each setting, from train.seed on (default: 1)")
      ->check(integer(1, 10000))
      ->type_name("N");
  sweep_command.add_option("--jobs", sweep.jobs, "trainings at a time; they share the threads")
      ->check(integer(1, max_threads))
      ->type_name("N")
      ->capture_default_str();
  add_sweep_plot(sweep_command, sweep.drawn);
  add_device(sweep_command, sweep);
  sweep_command.add_flag("--json", sweep.json, "print one JSON object; the progress goes to stderr");
}

void Options::add_finetune() {
  CLI::App& finetune_command =
      command("finetune", "train the best model of a finished run further on its own text, by averaged SGD",
              "lm finetune runs/awd-lstm-ptb-1 --epochs 50");
  finetune_command.footer(
      "This is averaged SGD at a constant rate on the same text, until validation no longer falls (Merity et "
      "al. 2018). To train on another text: lm train --init-from RUN --data NEW.\n\n"
      "The result is a run of its own, never worse on valid than the run it starts from. It stops by itself; "
      "lm train --out RUN --resume resumes one that was interrupted.\n" +
      finetune_command.get_footer());
  finetune_command.add_option("run", train.base, "the folder of the finished run")->type_name("RUN");
  finetune_command
      .add_option("--out", train.out, "the run folder to make (default: runs/RECIPE-finetuned-N)")
      ->type_name("RUN")
      ->check(not_empty);
  finetune_command
      .add_option("--epochs", epochs,
                  "times to read the training text, at most (default: the recipe's finetune.epochs)")
      ->type_name("N")
      ->check(not_empty);
  add_limits(finetune_command, steps, train);
  finetune_command.add_option("--data", train.data, "where the run's text lies now, if it has moved")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  finetune_command
      .add_option("--set", train_sets, "a setting, can be repeated, as in --set finetune.learning_rate=10")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_device(finetune_command, train);
}

void Options::add_ngram() {
  CLI::App& ngram_command =
      command("ngram", "estimate and measure an n-gram model: Kneser-Ney, or an ARPA file",
              "lm ngram --data ptb --order 5 --out ptb.arpa");
  ngram_command.footer(
      "The estimate is modified Kneser-Ney, interpolated, of the training text (Chen & Goodman 1998), all\n"
      "n-grams kept. Each line is read from its beginning (<s>): all its symbols are scored, its end too, "
      "and\n"
      "no context crosses it. A symbol that the training text lacks is read as <unk>; if the training text "
      "has no\n"
      "<unk> itself, that gets the probability that is left for one unseen symbol. In ARPA files of "
      "characters and bytes a space is\n"
      "<space>, and what else is not visible is escaped as in vocab.txt.\n" +
      ngram_command.get_footer());
  ngram_command.add_option("--data", ngram.data, data_text)->type_name("DIR|FILE")->check(not_empty);
  CLI::Option* text =
      ngram_command
          .add_option(
              "--text", ngram.text,
              "a text file to measure in place of the validation and the test text; -: standard input")
          ->type_name("FILE")
          ->check(not_empty);
  CLI::Option* order = ngram_command.add_option("--order", ngram.order, "of the longest n-grams")
                           ->check(integer(1, 100))
                           ->type_name("N")
                           ->capture_default_str();
  CLI::Option* out = ngram_command.add_option("--out", ngram.out, "an ARPA file to write")
                         ->type_name("FILE.arpa")
                         ->check(not_empty);
  ngram_command
      .add_option("--arpa", ngram.arpa, "measure this model, of any toolkit, in place of estimating one")
      ->excludes(order)
      ->excludes(out)
      ->type_name("FILE.arpa")
      ->check(not_empty);
  add_choice<Unit>(ngram_command, "--unit", ngram.tokenization.unit,
                   "what a symbol is: words, characters or bytes; an ARPA file has no place for the model of "
                   "pieces",
                   {name_of(Unit::words), name_of(Unit::characters), name_of(Unit::bytes)})
      ->default_str(name_of(ngram.tokenization.unit));
  ngram_command.add_flag("--strip-lines", ngram.tokenization.strip_lines,
                         "drop the white space around each line, as data.strip_lines does");
  CLI::Option* json = ngram_command.add_flag("--json", ngram.json, "print one JSON object");
  ngram_command
      .add_flag("--per-symbol", ngram.per_symbol,
                "print a row for each symbol of --text alone, as `lm score --per-symbol` does")
      ->needs(text)
      ->excludes(json);
}

void Options::add_bleu() {
  CLI::App& bleu_command =
      command("bleu", "compare translations on standard input with references: BLEU, chrF",
              "lm bleu reference.en < translations.en");
  bleu_command.footer(
      "A line is a sentence; line N of each reference translates the same sentence as line N of the input.\n"
      "BLEU is that of the corpus, n-grams up to 4, smoothed exponentially; chrF2 counts n-grams of up to 6\n"
      "characters. The figures are those of sacreBLEU 2.6, and printed in its form. Text that is\n"
      "tokenized, as models print it, needs --tokenize none and a tokenized reference. Figures with the "
      "same\n"
      "signature, but for the version, are comparable; the version is that of this program.\n" +
      bleu_command.get_footer());
  bleu_command.add_option("references", bleu.references, "files of reference translations")
      ->type_name("REFERENCE")
      ->check(not_empty);
  add_choice<BleuTokenization>(bleu_command, "--tokenize", bleu.tokenization,
                               "words of BLEU: 13a, as in WMT; none, at white space; char, characters")
      ->default_str(name_of(bleu.tokenization));
  bleu_command.add_flag("--lowercase", bleu.lower_case, "compare without regard to case");
  bleu_command.add_flag("--json", bleu.json, "print one JSON object");
}

void Options::add_info() {
  CLI::App& info_command = command(
      "info",
      "show layers, shapes, parameters and memory of a run or a recipe; or list operators, settings, cells",
      "lm info --recipe zaremba-small --vocab-size 10000");
  info_command.add_option("run", info.run, "a run folder (default: none; then one of the options below)")
      ->type_name("RUN");
  info_command.add_option("--recipe", info.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  CLI::Option* size =
      info_command
          .add_option("--vocab-size", info.vocabulary_size,
                      "size of the vocabulary, with --recipe (default: the recipe's data.max_size)")
          ->check(integer(1, 2000000000))
          ->type_name("N");
  info_command
      .add_option("--data", info.data,
                  "with --recipe, in place of --vocab-size: a text, whose vocabulary is counted, as lm train "
                  "reads it")
      ->type_name("DIR|FILE")
      ->check(not_empty)
      ->excludes(size);
  info_command.add_option("--set", info_sets, "a setting that overrides the recipe's, can be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  info_command.add_flag("--operators", info.operators, "list the pointwise operators");
  info_command.add_flag("--keys", info.keys,
                        "list the settings of language models, with defaults; with --recipe, its settings, "
                        "and the defaults that it changes");
  info_command.add_flag("--cells", info.cells, "list the recurrent cells and their settings");
  info_command.add_flag("--markdown", info.markdown, "print --cells as a table for a page on GitHub");
  info_command.add_flag("--json", info.json, "print one JSON object");
}

void Options::add_recipes() {
  CLI::App& recipes_command =
      command("recipes", "list the recipes that come with the program", "lm recipes ptb");
  recipes_command
      .add_option("pattern", recipes.pattern,
                  "those that have this in their name, description or paper, in any case; * is any text "
                  "(default: all)")
      ->type_name("PATTERN")
      ->check(not_empty);
  CLI::Option* recipes_as_json = recipes_command.add_flag("--json", recipes.json, "print one JSON object");
  recipes_command.add_flag("--markdown", recipes.markdown, "print tables for a page on GitHub")
      ->excludes(recipes_as_json);
}

void Options::add_probe() {
  CLI::App& probe_command =
      command("probe", "look into the recurrent layers of a model: gradients, activations, gates, weights",
              "lm probe runs/mi-ptb-rnn-1 runs/mi-ptb-mi-rnn-1 --svg pictures");
  probe_command.footer(
      "The model reads sequences of the text, each from the initial state; C is the loss of the last step\n"
      "alone, of a reader that of the answer, of a recogniser that of the transcript.\n"
      "ln |dC/dh_t|: the mean natural logarithm of the norm of its gradient with respect to the state after\n"
      "step t. |weight ..|: the mean norm of the product of a weight with what it multiplies at step t, no\n"
      "bias. Of activations and gates, s(.), the shares that are saturated. Steps of a reverse layer begin "
      "at\n"
      "the end. Several runs share the pictures. During a training: train.probe_every.\n" +
      probe_command.get_footer());
  probe_command.add_option("runs", probe.runs, "run folders")->type_name("RUN");
  probe_command.add_option("--split", probe.split, "train, valid or test of the run's data")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->type_name("NAME")
      ->capture_default_str();
  probe_command.add_option("--data", probe.data, "where the runs' text lies now, if it has moved")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  probe_command
      .add_option("--steps", probe.steps, "symbols of each sequence (default: the run's train.length)")
      ->check(integer(1, 100000))
      ->type_name("N");
  probe_command
      .add_option("--sequences", probe.sequences,
                  fmt::format("sequences or sentences, at equal distances in the text (default: {})",
                              ProbeOptions().sequences))
      ->check(integer(1))
      ->type_name("N");
  probe_command.add_option("--svg", probe.svg, "a folder for pictures")
      ->type_name("FOLDER")
      ->check(not_empty);
  add_device(probe_command, probe);
  probe_command.add_flag("--json", probe.json, "print one JSON object");
}

void Options::add_table() {
  CLI::App& table_command =
      command("table", "compare runs: measured figures beside published ones", "lm table runs/* --markdown");
  table_command.footer(
      "Nats, bits and perplexity are per symbol, for the best model: the figures at the end of the "
      "training,\n"
      "and the last ones measured by `lm eval`: plain, with dynamic evaluation, with a cache, with both.\n"
      "Finished runs that differ only in their seed share a row: mean, standard deviation. Settings that "
      "differ between rows are columns; so is the text, if it differs: its name, and the beginning of a "
      "SHA-256 of its files' digests. A published figure\n"
      "is shown beside the same kind of model on the same text, read in the same way. Training time is that\n"
      "of the updates, without evaluations. A dash: no such figure.\n" +
      table_command.get_footer());
  table_command
      .add_option("runs", table.runs,
                  "run folders, and folders of sweeps; a sweep alone has a table of its own")
      ->type_name("RUN");
  table_command
      .add_option(
          "--group-by", table.group_by,
          "a setting, can be repeated: runs on one text with the same value share a row, finished and "
          "unfinished ones apart, with mean, standard deviation and number, whatever other settings "
          "differ")
      ->type_name("KEY")
      ->expected(1)
      ->take_all()
      ->check(not_empty);
  table_command
      .add_option("--sort", table.sort,
                  "a column, by its name or a part of it: rows in its order, what has no figure last")
      ->type_name("COLUMN")
      ->check(not_empty);
  CLI::Option* as_json = table_command.add_flag("--json", table.json, "print one JSON object");
  CLI::Option* as_markdown =
      table_command.add_flag("--markdown", table.markdown, "print a table for a page on GitHub")
          ->excludes(as_json);
  CLI::Option* as_csv =
      table_command.add_flag("--csv", table.csv, "print comma-separated values, one number per cell")
          ->excludes(as_json)
          ->excludes(as_markdown);
  table_command
      .add_flag("--full", table.full,
                "print all columns, as --markdown and --csv do, also those of details and of what all rows "
                "have in common")
      ->excludes(as_json)
      ->excludes(as_markdown)
      ->excludes(as_csv);
  table_command.add_option("--plot", table.plot, "draw a sweep")->type_name("FILE.svg")->check(not_empty);
  add_sweep_plot(table_command, table.drawn);
}

void Options::add_plot() {
  CLI::App& plot_command = command("plot", "draw learning curves, sweeps, probes and attention as a page",
                                   "lm plot runs/* --out curves.html");
  plot_command.footer(
      "The page needs no other file, no script and no network. The colour of a run is the same in all its\n"
      "diagrams. A published figure is drawn where lm table shows it. Probes are those of\n"
      "train.probe_every. lm train writes such a page, plot.html in its run folder, after each epoch and "
      "with\n"
      "each saved state.\n" +
      plot_command.get_footer());
  plot_command.add_option("runs", plot.runs, "run folders, or folders of sweeps")->type_name("RUN");
  plot_command
      .add_option("--out", plot.out,
                  "the page to write, in HTML (default: plot.html; of one run or sweep, in its folder)")
      ->type_name("FILE.html")
      ->check(not_empty);
  add_choice<CurveAxis>(plot_command, "--x", plot.curves.x, "the x axis of curves: step, epoch or time")
      ->default_str(name_of(plot.curves.x));
  add_choice<PublishedUnit>(
      plot_command, "--unit", plot.curves.unit,
      "of losses: perplexity, bits or nats (default: perplexity of words, bits of characters, else nats)");
  plot_command
      .add_option("--attention", plot.attention, "draw what lm translate or lm answer --attention wrote")
      ->type_name("FILE.jsonl")
      ->check(not_empty);
  plot_command.add_option("--svg", plot.svg, "a folder for the diagrams as pictures, a file in SVG each")
      ->type_name("FOLDER")
      ->check(not_empty);
  plot_command
      .add_option("--csv", plot.csv, "a folder for the curves as numbers: training.csv, validation.csv")
      ->type_name("FOLDER")
      ->check(not_empty);
  add_sweep_plot(plot_command, plot.drawn);
}

}  // namespace rondo
