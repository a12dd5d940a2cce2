// The options of the commands that use a trained model. Their checks: lm/program/command_line.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "data/text.h"
#include "lm/decoding/beam_search.h"
#include "lm/program/input_lines.h"
#include "lm/program/option_parts.h"
#include "lm/program/options.h"

namespace rondo {

void Options::add_eval() {
  CLI::App& eval_command =
      command("eval",
              "measure how well a model predicts a text: nats, bits, perplexity; BLEU and "
              "chrF of a translator, the accuracy of a classifier, the error rates of a recogniser",
              "lm eval runs/char-lstm-1 --split test");
  eval_command.add_option("run", evaluate.run, "the run folder")->type_name("RUN");
  CLI::Option* split =
      eval_command
          .add_option("--split", evaluate.split,
                      "train, valid or test of the run's data; of spoken digits also speakers")
          ->check(CLI::IsMember({"train", "valid", "test", "speakers"}))
          ->type_name("NAME")
          ->capture_default_str();
  eval_command
      .add_option("text,--text", evaluate.text,
                  "a text file, or - for standard input; of a translator NAME, for the files NAME.SOURCE and "
                  "NAME.TARGET; of a classifier a file with labels (default: the text of --split)")
      ->type_name("FILE")
      ->check(not_empty);
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
      "dynamic evaluation: the weights learn from the text after it was scored, and are put back at the end");
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
      "end. Streams are pieces of the text, each from the initial state, the first symbol of a piece having\n"
      "the last of the piece before as context. --dynamic and --cache read one stream. (Published code\n"
      "often divides the sum over N - 1 symbols by N, for a slightly lower figure; that is not done here.)\n"
      "--dynamic reads the training text once before, in dynamic.statistics_streams streams, then scores\n"
      "dynamic.length symbols at a time with the weights as they are, and updates them from that loss.\n"
      "--cache mixes what cache.window states remember into p; it grows from empty. With both it mixes into\n"
      "what the present weights give. `lm info --keys --recipe NAME` lists the settings.\n" +
      eval_command.get_footer());
}

void Options::add_score() {
  CLI::App& score_command =
      command("score", "print the probability of each line of files, or of standard input",
              "lm score runs/char-lstm-1 hypotheses.txt --ids --per-length");
  score_command.footer(
      "One row per line, separated by tabs: natural-log probability, symbols, how many of them are unknown; "
      "with --ids first the number of the line, of several files FILE:NUMBER; with --per-length at the end "
      "the "
      "log probability divided by the symbols. With --totals one row per file, and if there are several, one "
      "for all: name, log probability, symbols, unknown ones, lines, perplexity.\n\n"
      "--nbest reads lines `id ||| hypothesis ||| scores`, of the format of Moses, which tools for rescoring "
      "read, and prints them in their order with one more feature in the third field: the hypothesis's "
      "natural-log probability.\n\n"
      "A line starts from the initial state, after the end of a line: all its symbols are scored, its own\n"
      "end too.\n" +
      fmt::format("A line has at most {} bytes.\n", longest_input_line) + score_command.get_footer());
  score_command.add_option("run", score.run, "the run folder")->type_name("RUN");
  score_command.add_option("files", score.files, "text files; -: standard input (default: -)")
      ->type_name("FILE");
  score_command
      .add_option(
          "--with", score.with,
          "another run with the same vocabulary, or an n-gram model in an ARPA file; can be repeated: "
          "--with B --with C. The models' probabilities of each symbol are averaged (linear "
          "interpolation)")
      ->type_name("RUN")
      ->allow_extra_args(false)  // what follows is a file
      ->check(not_empty);
  score_command
      .add_option("--weights", score.weights,
                  "of the run and of each --with, divided by their sum (default: the same for all)")
      ->delimiter(',')
      ->allow_extra_args(false)  // what follows is a file
      ->check(in_range(0.0, std::numeric_limits<double>::max(), "a number, 0 or above"))
      ->type_name("W,...");
  CLI::Option* ids = score_command.add_flag("--ids", score.ids, "begin each row with the line's number");
  CLI::Option* per_length = score_command.add_flag(
      "--per-length", score.per_length, "end each row with the log probability per symbol of the line");
  CLI::Option* totals =
      score_command.add_flag("--totals", score.totals, "print sums over each file in place of its lines")
          ->excludes(ids)
          ->excludes(per_length);
  CLI::Option* stateful =
      score_command.add_flag("--stateful", score.stateful, "carry the state from line to line");
  CLI::Option* per_symbol =
      score_command
          .add_flag("--per-symbol", score.per_symbol,
                    "a row for each symbol: line, symbol as in vocab.txt, natural-log probability")
          ->excludes(ids)
          ->excludes(per_length)
          ->excludes(totals);
  CLI::Option* nbest = score_command
                           .add_flag("--nbest", score.nbest,
                                     "the lines are those of an n-best list, and get a feature: see below")
                           ->excludes(ids)
                           ->excludes(per_length)
                           ->excludes(totals)
                           ->excludes(per_symbol)
                           ->excludes(stateful);
  score_command.add_option("--feature", score.feature, "with --nbest: the name of the feature")
      ->type_name("NAME")
      ->check(CLI::Validator(
          [](std::string& name) -> std::string {
            const bool good = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
              return is_space(c) || c == '=' || c == '|';
            });
            return good ? "" : fmt::format("'{}': expected a name without spaces, = and |", name);
          },
          ""))
      ->capture_default_str()
      ->needs(nbest);
  score_command
      .add_option("--batch", score.batch,
                  fmt::format("lines that are read side by side; shared prefixes are computed once  "
                              "(default: {} of files and n-best lists, 1 of standard input: a row appears "
                              "as soon as its line is read; --stateful always reads one by one)",
                              default_score_batch))
      ->type_name("N")
      ->check(integer(1, 4096))
      ->excludes(stateful);
  add_device(score_command, score);
}

void Options::add_generate() {
  CLI::App& generate_command =
      command("generate", "sample text from a model",
              "lm generate runs/char-lstm-1 --prompt 'The ' -n 500 --temperature 0.8");
  generate_command.add_option("run", generate.run, "the run folder")->type_name("RUN");
  generate_command.alias("sample");
  generate_command.footer(
      "The seed of sample I of --samples is --seed + I - 1, and a line '--- I' precedes it. With "
      "--interactive "
      "the model reads each line of standard input and continues it, until a --stop string (default: the end "
      "of a line) or -n symbols; it remembers what was read and written before. A repetition penalty divides "
      "the positive logits of symbols that were read or written before, and multiplies the negative ones "
      "(Keskar et al. 2019).\n" +
      generate_command.get_footer());
  CLI::Option* prompt =
      generate_command.add_option("--prompt", generate.prompt, "text to continue; it is printed first")
          ->type_name("TEXT");
  generate_command
      .add_option("--prompt-file", generate.prompt_file,
                  "a file with the text to continue; a newline at its end counts; -: standard input")
      ->type_name("FILE")
      ->check(not_empty)
      ->excludes(prompt);
  CLI::Option* samples =
      generate_command
          .add_option("--samples", generate.samples, "number of texts, each continuing the prompt")
          ->check(integer(1, 1000000))
          ->type_name("N")
          ->capture_default_str();
  generate_command
      .add_option("--stop", generate.stops,
                  "end a text before this string would be written; \\n is the end of a line; can be repeated")
      ->type_name("STRING")
      ->expected(1)
      ->take_all()
      ->check(not_empty);
  generate_command
      .add_option("-n", generate.symbols, "symbols to sample (words, characters, bytes or pieces)")
      ->check(integer(0))
      ->type_name("N")
      ->capture_default_str();
  generate_command
      .add_option("--temperature", generate.temperature,
                  "below 1 safer, above 1 bolder; 0: always the most probable")
      ->check(in_range(0.0, std::numeric_limits<double>::max(), "a number, 0 or above"))
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
      .add_option("--min-p", generate.min_p,
                  "sample only from symbols with this share of the most probable one's probability, 0 to 1; "
                  "0: from all")
      ->check(in_range(0.0, 1.0, "a number, 0 to 1"))
      ->type_name("P")
      ->capture_default_str();
  generate_command
      .add_option("--repetition-penalty", generate.repetition_penalty,
                  "above 1 makes symbols that were there before less probable; 1: none")
      ->check(in_range(std::numeric_limits<double>::min(), 1e6, "a number above 0"))
      ->type_name("X")
      ->capture_default_str();
  generate_command
      .add_option("--seed", generate.seed, "of the sampling (default: drawn, and printed on stderr)")
      ->check(integer(0))
      ->type_name("N");
  generate_command.add_flag("--allow-unk", generate.allow_unknown, "let <unk> be sampled");
  generate_command
      .add_flag("--interactive", generate.interactive, "continue each line of standard input, alternately")
      ->excludes(samples);
  add_device(generate_command, generate);
}

void Options::add_translate() {
  CLI::App& translate_command =
      command("translate", "translate the sentences of standard input, one per line",
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
}

void Options::add_classify() {
  CLI::App& classify_command = command("classify", "print the class of each sentence of standard input",
                                       "lm classify runs/classify-trec-1 < questions.txt");
  classify_command.footer(
      "One line per sentence: its most probable class. An empty line has none. Sentences are UTF-8, written\n"
      "as in the run's training text: if its words are separated by spaces, so are these.\n" +
      classify_command.get_footer());
  classify_command.add_option("run", classify.run, "the run folder")->type_name("RUN");
  classify_command.add_flag("--scores", classify.scores, "print the probability of the class after a tab");
  add_device(classify_command, classify);
}

void Options::add_answer() {
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
                  ".svg, else one JSON object per line")
      ->type_name("FILE.svg|FILE.jsonl")
      ->check(not_empty);
  add_device(answer_command, answer);
}

void Options::add_embed() {
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
}

void Options::add_transcribe() {
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
  transcribe_command
      .add_option("--ngram", transcribe.ngram,
                  "an n-gram model that takes part in the search; '': none (default: the run's)")
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
}

void Options::add_import() {
  CLI::App& import_command = command("import", "make a run of weights that another program has trained",
                                     "lm import model.safetensors --recipe zaremba-small --vocab vocab.txt");
  import_command.footer(
      "The recipe says what the model is, --set KEY=VALUE what differs from it. Names and shapes are those "
      "of\n"
      "PyTorch's modules: lm info --recipe lists them. For other names --map names a file of rules, one a "
      "line:\n"
      "OLD = NEW, OLD = NEW transposed; OLD = leaves a tensor out, = NEW makes one zero; * in OLD is any "
      "text,\n"
      "* in NEW the same text. Nothing is guessed: a missing or unexpected tensor is an error.\n" +
      import_command.get_footer());
  import_command
      .add_option("weights", imported.weights,
                  "a file in the format safetensors, or a folder of lm export --format pytorch")
      ->type_name("WEIGHTS");
  import_command
      .add_option("--recipe", imported.recipe,
                  "a name from `lm recipes`, or a TOML file (default: the folder's)")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  import_command
      .add_option(
          "--vocab", imported.vocabulary,
          "the symbols in the order of the rows, one per line, as a run's vocab.txt (default: the folder's)")
      ->type_name("FILE")
      ->check(not_empty);
  import_command.add_option("--map", imported.map, "rules for names that are not those of the model")
      ->type_name("FILE")
      ->check(not_empty);
  import_command
      .add_option("--data", imported.data,
                  "the text of the run, for lm eval --split and lm finetune (default: none)")
      ->type_name("DIR|FILE")
      ->check(not_empty);
  import_command.add_option("--out", imported.out, "the run folder to make (default: runs/RECIPE-N)")
      ->type_name("RUN")
      ->check(not_empty);
  import_command.add_option("--set", import_sets, "any setting of the recipe, can be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

void Options::add_export() {
  CLI::App& export_command = command("export", "write a language model for PyTorch or ONNX",
                                     "lm export runs/char-lstm-1 --format onnx --out exported");
  export_command.footer(
      "The folder has the weights, vocab.txt, config.json, model.py, which loads the model, and use.py, "
      "which\n"
      "prints what lm score prints, and samples: python3 FOLDER/use.py score < LINES. For PyTorch the "
      "weights "
      "are\n"
      "in safetensors, under the names of its modules, and recipe.toml has the settings of the run, so that "
      "lm import FOLDER makes a run again. The graph of ONNX reads ids [T, B] and the states, "
      "and\n"
      "gives the log-probabilities [T, B, V] of what follows, and the next states.\n" +
      export_command.get_footer());
  export_command.add_option("run", exported.run, "the run folder")->type_name("RUN");
  add_choice<ExportFormat>(export_command, "--format", exported.format, "pytorch or onnx")
      ->default_str(name_of(exported.format));
  export_command.add_option("--out", exported.out, "the folder to make")
      ->type_name("FOLDER")
      ->check(not_empty);
}

}  // namespace rondo
