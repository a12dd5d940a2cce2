// The options of every command.
#include "lm/program/options.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <sstream>

#include "lm/decoding/beam_search.h"
#include "lm/program/compute.h"
#include "lm/program/input_lines.h"
#include "lm/program/nearest.h"
#include "lm/program/version.h"
#include "tensor/keys.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

/// Accepts a text that is entirely a `Number` from `least` to `most`.
template <class Number>
CLI::Validator in_range(Number least, Number most, const std::string& accepted) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::istringstream in(text);
        Number value{};
        const bool good = in >> value && in.peek() == EOF && value >= least && value <= most;
        return good ? "" : fmt::format("'{}': expected {}", text, accepted);
      },
      "");
}
CLI::Validator integer(std::int64_t least, std::int64_t most) {
  return in_range(least, most, fmt::format("an integer, {} to {}", least, most));
}
CLI::Validator integer(std::int64_t least) {
  return integer(least, std::numeric_limits<std::int64_t>::max());
}

/// Refuses an empty value, as from an unset shell variable: it is not the same as leaving the option out.
const CLI::Validator not_empty(
    [](std::string& text) -> std::string { return text.empty() ? "'': expected a value" : ""; }, "");

/// One of the names of an enum.
template <class Enum, class Into>
CLI::Option* add_choice(CLI::App& to, const std::string& name, Into& into, const std::string& what) {
  const auto read = [&into](const std::string& text) { into = value_named<Enum>(text).value_or(Enum()); };
  return to.add_option_function<std::string>(name, read, what)
      ->check(CLI::IsMember(names_of(Enum())))
      ->type_name("NAME");
}

}  // namespace

CLI::App& Options::command(const std::string& name, const std::string& what, const std::string& example) {
  CLI::App& added = *app.add_subcommand(name, what);
  added.footer("Example:\n  " + example);
  added.allow_extras();  // leftover words get an error text of our own
  return added;
}

template <class Of>
void Options::add_device(CLI::App& to, Of& options) {
  add_choice<Device>(to, "--device", options.device, "where to compute: cpu or cuda (default: cpu)");
  add_choice<Precision>(to, "--precision", options.precision,
                        "how a GPU multiplies: fp32, or rounded and faster, tf32 or bf16 (default: fp32)");
  to.add_option("--threads", options.threads,
                "threads of the CPU (default: OMP_NUM_THREADS, else one per core)")
      ->check(integer(1, max_threads))
      ->type_name("N");
}

void Options::add_plot(CLI::App& to, SweepPlotOptions& options) {
  to.add_option("--over", options.over,
                "the x axis of a sweep's diagram: a key, or parameters (default: the only key of numbers)")
      ->type_name("KEY")
      ->check(not_empty);
  to.add_option("--band", options.band,
                fmt::format("mark figures within W of the recipe's own settings, or of the best; 0: none "
                            "(default: {} for perplexity, else none)",
                            default_band))
      ->check(in_range(0.0, 1e6, "a number, 0 or above"))
      ->type_name("W");
}

Options::Options() {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "lm (Rondo) " + version());
  app.footer(
      "lm COMMAND --help has details. Exit status: 0 done, 1 failed while running, 2 bad input or usage,\n"
      "130, 143, 129 or 141 stopped by Ctrl-C, SIGTERM, SIGHUP or a closed pipe; a training has saved its\n"
      "state.");

  CLI::App& train_command =
      command("train", "train a model", "lm train --recipe char-lstm --data book.txt --epochs 5");
  train_command.add_option("--recipe", train.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  train_command
      .add_option("--data", train.data,
                  "a folder with train.txt, valid.txt and perhaps test.txt; or one text file, split into 90 "
                  "% train, 5 % valid, 5 % test")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  train_command.add_option("--out", train.out, "the run folder to make (default: runs/RECIPE-N)")
      ->type_name("RUN")
      ->check(not_empty);
  train_command.add_option("--epochs", epochs, "times to read the training text (default: the recipe's)")
      ->type_name("N")
      ->check(not_empty);
  train_command.add_option("--seed", seed, "of weights and dropout (default: the recipe's, else 1)")
      ->type_name("N")
      ->check(not_empty);
  train_command
      .add_option("--set", train_sets,
                  "any setting of the recipe, can be repeated; `lm info --keys` lists them")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_device(train_command, train);
  train_command.add_flag("--resume", train.resume,
                         "continue the run at --out; only --epochs, --device, --precision, --threads and "
                         "where --data lies may change");

  CLI::App& sweep_command = command("sweep", "train every combination of settings, with several seeds",
                                    "lm sweep --recipe char-lstm --data book.txt --set "
                                    "model.hidden=128,256,512 --seeds 3 --out runs/sizes");
  sweep_command.footer(
      "Each run is that of lm train with these settings, in a folder of --out that is named after them. At\n"
      "the end comes a table: mean and standard deviation over seeds, and the best on valid; and sweep.svg "
      "in\n"
      "--out shows it. Ctrl-C stops, and the same command goes on: finished runs are kept, stopped ones\n"
      "resumed. lm table FOLDER shows the table again.\n" +
      sweep_command.get_footer());
  sweep_command.add_option("--recipe", sweep.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  sweep_command.add_option("--data", sweep.data, "as of lm train")->type_name("DIR|FILE")->check(not_empty);
  sweep_command.add_option("--out", sweep.out, "the folder to make, or to go on in")
      ->type_name("FOLDER")
      ->check(not_empty);
  sweep_command
      .add_option("--set", sweep_sets,
                  "a setting with one or several values, can be repeated; a list is a value in [ ]. Settings "
                  "that vary together: --set model.cell:model.hidden=lstm:266,gru:330")
      ->type_name("KEY=VALUE,...")
      ->expected(1)
      ->take_all();
  sweep_command.add_option("--seeds", sweep.seeds, "runs of each setting, from train.seed on (default: 1)")
      ->check(integer(1, 10000))
      ->type_name("N");
  sweep_command.add_option("--jobs", sweep.jobs, "runs at a time, which divide the threads")
      ->check(integer(1, max_threads))
      ->type_name("N")
      ->capture_default_str();
  add_plot(sweep_command, sweep.drawn);
  add_device(sweep_command, sweep);
  sweep_command.add_flag("--json", sweep.json, "print one JSON object; the progress goes to stderr");

  CLI::App& finetune_command =
      command("finetune", "train the best model of a finished run further, by averaged SGD",
              "lm finetune runs/awd-lstm-ptb-1 --epochs 50");
  finetune_command.footer(
      "The result is a run of its own, never worse on valid than the run it starts from. It stops by "
      "itself;\n"
      "lm train --out RUN --resume resumes one that was interrupted.\n" +
      finetune_command.get_footer());
  finetune_command.add_option("run", train.base, "the folder of the finished run")->type_name("RUN");
  finetune_command
      .add_option("--out", train.out, "the run folder to make (default: runs/RECIPE-finetuned-N)")
      ->type_name("RUN")
      ->check(not_empty);
  finetune_command.add_option("--epochs", epochs, "at most (default: the recipe's finetune.epochs)")
      ->type_name("N")
      ->check(not_empty);
  finetune_command.add_option("--data", train.data, "where the run's text lies now, if it has moved")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  finetune_command
      .add_option("--set", train_sets, "a setting, can be repeated, as in --set finetune.learning_rate=10")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_device(finetune_command, train);

  CLI::App& eval_command =
      command("eval",
              "measure how well a model predicts a text: nats, bits, perplexity; BLEU and "
              "chrF of a translator, the accuracy of a classifier, the error rates of a recogniser",
              "lm eval runs/char-lstm-1 --split test --json");
  eval_command.add_option("run", evaluate.run, "the run folder")->type_name("RUN");
  CLI::Option* split =
      eval_command
          .add_option("--split", evaluate.split,
                      "train, valid or test of the run's data; of spoken digits also speakers")
          ->check(CLI::IsMember({"train", "valid", "test", "speakers"}))
          ->type_name("NAME")
          ->capture_default_str();
  eval_command.add_option("--text", evaluate.text, "a text file, in place of a split")
      ->type_name("FILE")
      ->check(not_empty)
      ->excludes(split);
  eval_command
      .add_option(
          "--streams", evaluate.streams,
          "pieces read side by side, the state carried on: more is faster, 1 is exact (default: as the run's "
          "data.evaluated_as and train.final_streams say)")
      ->check(integer(1, 1000000))
      ->type_name("N");
  eval_command
      .add_option("--task", evaluate.task,
                  "a task of a multi-task run (default: its first): BLEU and chrF if it has a source")
      ->type_name("NAME")
      ->check(not_empty);
  eval_command
      .add_option("--sentences", evaluate.sentences,
                  "of a skip-thought run: a folder with SICK, MSRP, MR, CR, SUBJ, MPQA or TREC, on which its "
                  "vectors are measured; can be repeated")
      ->type_name("FOLDER")
      ->expected(1)
      ->take_all()
      ->check(not_empty)
      ->excludes(split);
  eval_command
      .add_option("--vectors", evaluate.vectors,
                  "with --sentences: word vectors for words that the run does not know, as of lm embed")
      ->type_name("FILE")
      ->check(not_empty);
  eval_command.add_option("--data", evaluate.data, "where the run's text lies now, if it has moved")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  eval_command.add_flag(
      "--dynamic", evaluate.dynamic,
      "dynamic evaluation: the weights learn from what they were scored on, and are put back");
  eval_command.add_flag("--cache", evaluate.cache,
                        "neural cache: symbols that followed states like the present one are more probable");
  eval_command
      .add_option("--set", eval_sets,
                  "a setting of [dynamic] or [cache], of a translator or recogniser of [decoding]; can be "
                  "repeated (default: "
                  "the run's)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  eval_command.add_flag(
      "--tune", evaluate.tune,
      "first search the settings of --dynamic and --cache, or of decoding.ngram, on the validation text");
  eval_command
      .add_option(
          "--budget", evaluate.budget,
          fmt::format("symbols that --tune may score, beside the statistics of --dynamic (default: {})",
                      default_tuning_budget))
      ->check(integer(1))
      ->type_name("N");
  add_device(eval_command, evaluate);
  eval_command.add_flag("--json", evaluate.json, "print one JSON object");
  eval_command.footer(
      "Nats are the mean of -ln p over the symbols scored, and their number is printed and is the\n"
      "denominator. Scored is every symbol but the first, which is context only; nothing is dropped at the\n"
      "end. Streams are pieces of the text, each from a zero state, the first symbol of a piece having the\n"
      "last of the piece before as context. --dynamic and --cache read one stream. (Published code often\n"
      "divides the sum over N - 1 symbols by N, for a slightly lower figure; that is not done here.)\n"
      "--dynamic reads the training text once before, in dynamic.statistics_streams streams, then scores\n"
      "dynamic.length symbols at a time with the weights as they are, and updates them from that loss.\n"
      "--cache mixes what cache.window states remember into p; it grows from empty. With both it mixes into\n"
      "what the present weights give. `lm info --keys` lists the settings.\n" +
      eval_command.get_footer());

  CLI::App& score_command = command("score", "print the probability of each line of standard input",
                                    "lm score runs/char-lstm-1 < lines.txt");
  score_command.footer(
      "One row per line, separated by tabs: natural-log probability, symbols, how many of them are unknown.\n"
      "A line starts from zero state, after the end of a line: all its symbols are scored, its own end "
      "too.\n" +
      fmt::format("A line has at most {} bytes.\n", longest_input_line) + score_command.get_footer());
  score_command.add_option("run", score.run, "the run folder")->type_name("RUN");
  score_command.add_flag("--stateful", score.stateful, "carry the state from line to line");
  score_command.add_flag("--per-symbol", score.per_symbol,
                         "a row for each symbol: line, symbol as in vocab.txt, natural-log probability");
  add_device(score_command, score);

  CLI::App& generate_command =
      command("generate", "sample text from a model",
              "lm generate runs/char-lstm-1 --prompt 'The ' -n 500 --temperature 0.8");
  generate_command.add_option("run", generate.run, "the run folder")->type_name("RUN");
  generate_command.add_option("--prompt", generate.prompt, "text to continue; it is printed first")
      ->type_name("TEXT");
  generate_command.add_option("-n", generate.symbols, "symbols to sample (words, characters or bytes)")
      ->check(integer(0))
      ->type_name("N")
      ->capture_default_str();
  generate_command
      .add_option("--temperature", generate.temperature,
                  "below 1 safer, above 1 bolder; 0: always the most probable")
      ->check(in_range(0.0, std::numeric_limits<double>::max(),
                       fmt::format("a number, 0 to {:.6g}", std::numeric_limits<double>::max())))
      ->type_name("T")
      ->capture_default_str();
  generate_command
      .add_option("--top-k", generate.top_k, "sample from the K most probable symbols only; 0: from all")
      ->check(integer(0))
      ->type_name("K")
      ->capture_default_str();
  generate_command
      .add_option("--top-p", generate.top_p,
                  "sample from the most probable symbols that make up this share, above 0 to 1")
      ->check(in_range(std::numeric_limits<double>::min(), 1.0, "a number above 0, up to 1"))
      ->type_name("P")
      ->capture_default_str();
  generate_command
      .add_option("--seed", generate.seed, "of the sampling (default: drawn, and printed on stderr)")
      ->check(integer(0))
      ->type_name("N");
  generate_command.add_flag("--allow-unk", generate.allow_unknown, "let <unk> be sampled");
  add_device(generate_command, generate);

  CLI::App& translate_command = command("translate", "translate the sentences of standard input, one a line",
                                        "lm translate runs/attention-multi30k-1 < sentences.de");
  translate_command.footer(
      "Sentences are written as in the run's training text: if its words are separated by spaces, so are "
      "these.\n"
      "Ctrl-C stops the translation; what was printed before is whole lines, and --attention is written for "
      "them.\n" +
      translate_command.get_footer());
  const CLI::Validator penalty = in_range(0.0, std::numeric_limits<double>::max(), "a number, 0 or above");
  translate_command.add_option("run", translate.run, "the run folder")->type_name("RUN");
  translate_command.add_option("--task", translate.task, "a task of a multi-task run (default: its first)")
      ->type_name("NAME");
  translate_command
      .add_option("--beam", translate.beam, "hypotheses at a time; 1: greedy (default: the run's)")
      ->check(integer(1, largest_beam))
      ->type_name("N");
  translate_command
      .add_option(
          "--n-best", translate.n_best,
          "translations of each sentence, best first; above 1 the lines are NUMBER ||| TRANSLATION ||| "
          "SCORE, the number of the sentence from 0")
      ->check(integer(1, largest_beam))
      ->type_name("N");
  translate_command
      .add_option("--max-length", translate.max_length, "symbols of a translation, with its end symbol")
      ->check(integer(1, 1000000))
      ->type_name("N");
  translate_command
      .add_option("--length-penalty", translate.length_penalty, "above 0 favours long translations")
      ->check(penalty)
      ->type_name("A");
  translate_command
      .add_option("--coverage-penalty", translate.coverage_penalty,
                  "above 0 favours translations that have attended to the whole sentence")
      ->check(penalty)
      ->type_name("B");
  translate_command.add_flag("--allow-unk", translate.allow_unknown, "let <unk> be written");
  translate_command.add_flag("--replace-unk", translate.replace_unknown,
                             "write the word of the sentence that was attended to most in place of <unk>");
  translate_command.add_flag("--scores", translate.scores,
                             "print the score and a tab before each translation; --n-best prints it anyway");
  translate_command
      .add_option(
          "--attention", translate.attention,
          "write what each symbol attended to: a picture if the name ends in .svg, else a JSON object a "
          "line")
      ->type_name("FILE.svg|FILE.jsonl")
      ->check(not_empty);
  add_device(translate_command, translate);

  CLI::App& classify_command = command("classify", "print the class of each sentence of standard input",
                                       "lm classify runs/classify-trec-1 < questions.txt");
  classify_command.footer(
      "One line per sentence: its most probable class. An empty line has none. Sentences are UTF-8, written\n"
      "as in the run's training text: if its words are separated by spaces, so are these.\n" +
      classify_command.get_footer());
  classify_command.add_option("run", classify.run, "the run folder")->type_name("RUN");
  classify_command.add_flag("--scores", classify.scores, "print the probability of the class after a tab");
  add_device(classify_command, classify);

  CLI::App& answer_command = command("answer", "print the answer to each question of standard input",
                                     "lm answer runs/attentive-reader-1 < questions.txt");
  answer_command.footer(
      "A line is a document, a tab, and a question in which @placeholder stands for what is asked; the "
      "answer\n"
      "is a name of the document. Names are words with capital letters, or @entity0, @entity1, ... in a\n"
      "document that has no names. An empty line has no answer.\n" +
      answer_command.get_footer());
  answer_command.add_option("run", answer.run, "the run folder")->type_name("RUN");
  answer_command.add_flag("--scores", answer.scores, "print the probability of the answer after a tab");
  answer_command
      .add_option("--attention", answer.attention,
                  "write how much each word of the document was attended to: a picture if the name ends in "
                  ".svg, else a JSON object a line")
      ->type_name("FILE.svg|FILE.jsonl")
      ->check(not_empty);
  add_device(answer_command, answer);
  CLI::App& embed_command = command("embed", "print the vector of each sentence of standard input",
                                    "lm embed runs/skip-thought-1 --output sentences.npy < sentences.txt");
  embed_command.footer(
      "One line per sentence, in their order: the numbers of its vector, separated by spaces. Sentences are\n"
      "written as in the run's training text: if its words are separated by spaces, so are these.\n" +
      embed_command.get_footer());
  embed_command.add_option("run", embed.run, "the run folder, of task skip_thought")->type_name("RUN");
  embed_command.add_option("--output", embed.output, "an array [sentences, numbers] for NumPy, not lines")
      ->type_name("FILE.npy")
      ->check(not_empty);
  embed_command
      .add_option(
          "--vectors", embed.vectors,
          "word vectors in the text format of word2vec or GloVe: words that the run does not know get "
          "theirs, by a linear map from words that both know (default: they are <unk>)")
      ->type_name("FILE")
      ->check(not_empty);
  add_device(embed_command, embed);
  CLI::App& transcribe_command = command("transcribe", "print what is said in recordings",
                                         "lm transcribe runs/speech-digits-1 one.wav two.wav");
  transcribe_command.footer(
      "One line per recording, which is a WAV file with one channel, of the run's data.sample_rate. Where "
      "the\n"
      "run normalizes frames by speaker, all recordings are taken as those of one speaker.\n" +
      transcribe_command.get_footer());
  transcribe_command.add_option("run", transcribe.run, "the run folder")->type_name("RUN");
  transcribe_command.add_option("files", transcribe.files, "recordings")->type_name("FILE.wav");
  transcribe_command
      .add_option("--beam", transcribe.beam, "prefixes of a search; 1: greedy (default: the run's)")
      ->check(integer(1, largest_beam))
      ->type_name("N");
  transcribe_command.add_option("--ngram", transcribe.ngram, "an n-gram model that takes part in the search")
      ->check(not_empty)
      ->type_name("FILE.arpa");
  add_choice<NgramUnit>(transcribe_command, "--ngram-unit", transcribe.ngram_unit,
                        "what its symbols are: words or characters (default: the run's)");
  transcribe_command
      .add_option("--ngram-weight", transcribe.ngram_weight,
                  "weight of its log probability (default: the run's)")
      ->check(in_range(0.0, std::numeric_limits<double>::max(), "a number, 0 or above"))
      ->type_name("X");
  transcribe_command
      .add_option("--insertion-bonus", transcribe.insertion_bonus,
                  "nats for each of its symbols (default: the run's)")
      ->type_name("X");
  transcribe_command.add_flag("--json", transcribe.json, "print one JSON object");
  add_device(transcribe_command, transcribe);

  CLI::App& ngram_command =
      command("ngram", "estimate and measure an n-gram model: Kneser-Ney, or an ARPA file",
              "lm ngram --data ptb --order 5 --out ptb.arpa");
  ngram_command.footer(
      "The estimate is modified Kneser-Ney, interpolated, of the training text (Chen & Goodman 1998), all\n"
      "n-grams kept. Each line is read from its beginning (<s>): all its symbols are scored, its end too, "
      "and\n"
      "no context crosses it. What the training text lacks is <unk>; if it lacks that, too, <unk> has the\n"
      "probability that is left for symbols not seen. In ARPA files of characters and bytes a space is\n"
      "<space>, and what else is not visible is escaped as in vocab.txt.\n" +
      ngram_command.get_footer());
  ngram_command
      .add_option("--data", ngram.data,
                  "a folder with train.txt, valid.txt and perhaps test.txt; or one text file, split into 90 "
                  "% train, 5 % valid, 5 % test")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  CLI::Option* order = ngram_command.add_option("--order", ngram.order, "of the longest n-grams")
                           ->check(integer(1, 5))
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
                   "what a symbol is: words, characters or bytes")
      ->default_str(name_of(ngram.tokenization.unit));
  ngram_command.add_flag("--strip-lines", ngram.tokenization.strip_lines,
                         "drop the white space around each line, as data.strip_lines does");
  ngram_command.add_flag("--json", ngram.json, "print one JSON object");

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

  CLI::App& info_command = command(
      "info",
      "show layers, shapes, parameters and memory of a run or a recipe; or list operators, settings, cells",
      "lm info --recipe zaremba-small --vocab-size 10000");
  info_command.add_option("run", info.run, "a run folder")->type_name("RUN");
  info_command.add_option("--recipe", info.recipe, "a name from `lm recipes`, or a TOML file")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  info_command
      .add_option("--vocab-size", info.vocabulary_size,
                  "symbols, with --recipe (default: the recipe's data.max_size)")
      ->check(integer(1, 2000000000))
      ->type_name("N");
  info_command.add_option("--set", info_sets, "a setting that overrides the recipe's, can be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  info_command.add_flag("--verify", info.verify,
                        "with a run: find damage in all its files and its text, by their SHA-256 where they "
                        "have one, and what is missing, a line each; exit status 2 if there is any. Files "
                        "swapped between runs and edited settings are no damage");
  info_command.add_flag("--operators", info.operators, "list the pointwise operators");
  info_command.add_flag("--keys", info.keys,
                        "list the settings of recipes; with --recipe, those of its task");
  info_command.add_flag("--cells", info.cells, "list the recurrent cells and their settings");
  info_command.add_flag("--markdown", info.markdown, "print --cells as a table for a page on GitHub");
  info_command.add_flag("--json", info.json, "print one JSON object");

  CLI::App& recipes_command =
      command("recipes", "list the recipes that come with the program", "lm recipes --json");
  CLI::Option* recipes_as_json = recipes_command.add_flag("--json", recipes.json, "print one JSON object");
  recipes_command.add_flag("--markdown", recipes.markdown, "print tables for a page on GitHub")
      ->excludes(recipes_as_json);

  CLI::App& probe_command =
      command("probe", "look into the recurrent layers of a model: gradients, activations, gates, weights",
              "lm probe runs/mi-ptb-rnn-1 runs/mi-ptb-mi-rnn-1 --svg pictures");
  probe_command.footer(
      "The model reads sequences of the text, each from a zero state; C is the loss of the last step alone.\n"
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

  CLI::App& table_command =
      command("table", "show published beside measured figures", "lm table runs/* --markdown");
  table_command.footer(
      "Nats, bits and perplexity are per symbol, for the best model: the figures at the end of the "
      "training,\n"
      "and the last ones measured by `lm eval`: plain, with dynamic evaluation, with a cache, with both.\n"
      "Finished runs that differ only in their seed share a row: mean, standard deviation. A published "
      "figure\n"
      "is shown beside the same kind of model on the same text, read in the same way. Training time is that\n"
      "of the updates, without evaluations. A dash: no such figure.\n" +
      table_command.get_footer());
  table_command.add_option("runs", table.runs, "run folders, one row each; or the folder of a sweep")
      ->type_name("RUN");
  CLI::Option* as_json = table_command.add_flag("--json", table.json, "print one JSON object");
  table_command.add_flag("--markdown", table.markdown, "print a table for a page on GitHub")
      ->excludes(as_json);
  table_command.add_option("--plot", table.plot, "draw a sweep")->type_name("FILE.svg")->check(not_empty);
  add_plot(table_command, table.drawn);
}

}  // namespace rondo
