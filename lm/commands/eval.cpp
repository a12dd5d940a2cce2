// `lm eval`: its options. The evaluation: lm/program/evaluate.cpp.
#include "lm/commands/options.h"
#include "lm/program/evaluate.h"

namespace rondo {

Command add_eval(CommandLine& line) {
  struct Words {
    EvaluateOptions options;
    std::vector<std::string> sets;
  };
  const auto words = std::make_shared<Words>();
  EvaluateOptions& options = words->options;
  CLI::App& app = add_command(
      line, "eval",
      "measure how well a model predicts a text: nats, bits, perplexity; BLEU and chrF of a translator, the "
      "accuracy of a classifier, the error rates of a recogniser",
      "lm eval runs/char-lstm-1 --split test",
      "Nats are the mean of -ln p over the symbols scored, and their number is printed and is the "
      "denominator. Scored is every symbol but the first, which is context only; nothing is dropped at the "
      "end. Streams are pieces of the text, each from the initial state, the first symbol of a piece having "
      "the last of the piece before as context. --dynamic and --cache read one stream. (Published code often "
      "divides the sum over N - 1 symbols by N, for a slightly lower figure; that is not done here.)\n\n"
      "--dynamic reads the training text once before, in dynamic.statistics_streams streams, then scores "
      "dynamic.length symbols at a time with the weights as they are, and updates them from that loss. "
      "--cache mixes what cache.window states remember into p; it grows from empty. With both it mixes into "
      "what the present weights give. `lm info --keys --recipe NAME` lists the settings.");
  app.add_option("run", options.run, "the run folder")->type_name("RUN");
  CLI::Option* split =
      app.add_option("--split", options.split,
                     "train, valid or test of the run's data; of spoken digits also speakers")
          ->check(CLI::IsMember({"train", "valid", "test", "speakers"}))
          ->type_name("NAME")
          ->capture_default_str();
  add_text(app, "text,--text", options.text, "FILE",
           "a text file, or - for standard input; of a translator NAME, for the files NAME.SOURCE and "
           "NAME.TARGET; of a classifier a file with labels (default: the text of --split)");
  add_value(app, "--streams", options.streams, "N", integer(1, 1000000),
            "pieces read side by side, the state carried on: more is faster, 1 is exact (default: as the "
            "run's data.evaluated_as and train.final_streams say)");
  add_text(app, "--task", options.task, "NAME",
           "a task of a multi-task run (default: its first): BLEU and chrF if it has a source");
  add_list(
      app, "--sentences", options.sentences, "FOLDER",
      "of a skip-thought run: a folder with SICK, MSRP, MR, CR, SUBJ, MPQA or TREC, on which its vectors "
      "are measured; can be repeated")
      ->check(not_empty())
      ->excludes(split);
  add_text(app, "--vectors", options.vectors, "FILE",
           "with --sentences: word vectors for words that the run does not know, as of lm embed");
  add_text(app, "--data", options.data, "DIR|FILE", "where the run's text lies now, if it has moved");
  app.add_flag("--dynamic", options.dynamic,
               "dynamic evaluation: the weights learn from the text after it was scored, and are put back at "
               "the end");
  app.add_flag("--cache", options.cache,
               "neural cache: symbols that followed states like the present one are more probable");
  add_list(app, "--set", words->sets, "KEY=VALUE",
           "a setting of [dynamic] or [cache], of a translator or recogniser of [decoding]; can be repeated "
           "(default: the run's)");
  app.add_flag("--tune", options.tune,
               "first search the settings of --dynamic and --cache, or of decoding.ngram, on the validation "
               "text");
  add_value(app, "--budget", options.budget, "N", integer(1),
            fmt::format("symbols that --tune may score, beside the statistics of --dynamic (default: {})",
                        default_tuning_budget));
  add_device(app, options);
  app.add_flag("--json", options.json, "print one JSON object");
  return {&app, [words, split, &app] {
            EvaluateOptions& given = words->options;
            check_run_given(app, given.run);
            check_input(given.text.empty() || split->count() == 0,
                        "eval: --split names a text of the run, and {} is another one: leave out one of them",
                        given.text);
            check_run_comes_first(app, given.run, given.text);
            given.settings = parse_settings(words->sets);
            return evaluate(given);
          }};
}

}  // namespace rondo
