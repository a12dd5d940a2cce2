// `lm ngram`: an n-gram model as a baseline, estimated (data/ngram/kneser_ney.h) or read (data/ngram/arpa.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/files/files.h"
#include "data/ngram/arpa.h"
#include "data/ngram/kneser_ney.h"
#include "data/text/corpus.h"
#include "data/text/symbols.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/log.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"

namespace rondo {
namespace {

struct NgramOptions {
  std::string data;  // a corpus; empty: none, with `arpa` and `text`
  std::string text;  // a file to measure in place of the validation and the test text; "-": standard input
  Tokenization tokenization{};
  std::string vocabulary_from;             // a run whose symbols it has; empty: those of the text
  std::optional<Vocabulary> vocabulary{};  // of that run

  int order = 5;            // of the estimate, from 1
  std::string arpa;         // a model to read instead of estimating one
  std::string out;          // an ARPA file to write; empty: none
  bool per_symbol = false;  // print a row for each symbol of `text` alone
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// The text of the model, and other texts that are measured.
struct Texts {
  std::optional<CorpusText> corpus;
  std::optional<Text> other;
};

Texts texts_of(const NgramOptions& options) {
  const Unit unit = options.tokenization.unit;
  Texts texts;
  try {
    if (!options.data.empty()) texts.corpus = open_corpus(options.data, unit);
    if (!options.text.empty())
      texts.other = open_text_file(file_to_read(options.text), unit, Pipes::accepted, {});
    return texts;
  } catch (const NotUtf8& error) {
    throw InputError(fmt::format("{}, or give --unit bytes", error.what()));
  }
}

/// A model, and where it comes from.
struct Source {
  Vocabulary vocabulary;
  NgramModel model;
  std::vector<KneserNey::Discounts> discounts;  // empty: of an ARPA file
  double seconds = 0;                           // to estimate or read it
  bool is_closed = false;  // an ARPA file without <unk>, which has then no n-gram of the file

  std::int64_t symbols() const { return model.symbols() - is_closed; }
  std::int64_t ngrams(int order) const { return model.ngrams(order) - (is_closed && order == 1); }
};

Source source_of(const NgramOptions& options, const Texts& texts) {
  const auto start = Clock::now();
  const Tokenization tokenization = options.tokenization;
  if (!options.arpa.empty()) {
    auto [vocabulary, model, is_closed] = read_arpa(options.arpa, tokenization);
    return {std::move(vocabulary), std::move(model), {}, seconds_since(start), is_closed};
  }
  const Text& train = texts.corpus->train;
  Vocabulary vocabulary = options.vocabulary ? *options.vocabulary : Vocabulary(train, tokenization);
  auto [discounts, model] =
      kneser_ney(vocabulary.encode(train).ids, vocabulary.size(), vocabulary.line_end_id(), options.order);
  return {std::move(vocabulary), std::move(model), std::move(discounts), seconds_since(start)};
}

/// -log p of each symbol.
std::vector<double> nats_of(const Source& source, const Encoded& encoded, const Text& text) {
  check_input(!encoded.ids.empty(), "{}: no symbols to score", text.name);
  std::vector<double> nats = log_probabilities(source.model, encoded.ids, source.vocabulary.line_end_id());
  for (double& it : nats) it = -it;
  check_input(std::all_of(nats.begin(), nats.end(), [](double it) { return it > -1e-6; }),
              "{}: the model gives a symbol a probability above 1; its back-off weights are wrong",
              text.name);
  return nats;
}

/// Prints a row for each symbol, as `lm score --per-symbol` does.
void print_symbols(const Source& source, const Text& text) {
  const Vocabulary& vocabulary = source.vocabulary;
  const Encoded encoded = vocabulary.encode(text);
  const std::vector<double> nats = nats_of(source, encoded, text);
  std::int64_t line = 1;
  for (std::size_t i = 0; i < nats.size(); ++i) {
    const std::int32_t id = encoded.ids[i];
    print_symbol(fmt::format("{}", line), escape_symbol(vocabulary.symbol(id)), nats[i]);
    line += id == vocabulary.line_end_id();
  }
}

/// Measures a text. Of a closed vocabulary the symbols that it lacks are left out, as SRILM does.
Scores scores_of_text(const Source& source, const Text& text) {
  const auto start = Clock::now();
  Encoded encoded = source.vocabulary.encode(text);
  const std::vector<double> nats = nats_of(source, encoded, text);
  const auto all = std::ssize(encoded.ids);
  const std::int64_t left_out = source.is_closed ? encoded.unknowns : 0;
  check_input(left_out < all, "{}: the model knows none of its {} symbols", text.name, all);
  if (left_out > 0) {
    std::replace(encoded.ids.begin(), encoded.ids.end(), *source.vocabulary.unknown_id(),
                 std::int32_t{Chunk::ignore_index});
    print_warning(
        fmt::format("{}: {} of {} symbols are not in the vocabulary of the model, which has no {}: "
                    "they are left out",
                    text.name, left_out, all, unknown_symbol));
  } else {
    print_warning(warning_of_unknowns({text.name, encoded.unknowns, all}));
  }
  Evaluation result;
  result.add(encoded.ids, nats, source.vocabulary.unknown_id());
  result.seconds = seconds_since(start);
  result.bytes = left_out > 0 ? 0 : encoded.bytes;
  if (std::isinf(result.nats_sum))
    print_warning(fmt::format("{}: {} symbols have probability 0 in this model", text.name,
                              std::count(nats.begin(), nats.end(), INFINITY) - left_out));
  Scores scores = scores_of(result, "lines");
  if (left_out > 0) scores.details.push_back({"left_out", left_out});
  return scores;
}

void print_model(const NgramOptions& options, const Source& source) {
  const NgramModel& model = source.model;
  print_line(fmt::format("{}, order {}, a vocabulary of {} {}; {} in {:.1f} s",
                         options.arpa.empty() ? "modified Kneser-Ney, interpolated" : options.arpa,
                         model.order(), source.symbols(), name_of(options.tokenization.unit),
                         options.arpa.empty() ? "estimated" : "read", source.seconds));
  for (int order = 1; order <= model.order(); ++order) {
    fmt::print("{:>10} {}-grams", source.ngrams(order), order);
    if (!source.discounts.empty()) {
      const auto& [of, estimated] = source.discounts[static_cast<std::size_t>(order - 1)];
      fmt::print(", discounts {:.4f}{}", fmt::join(of, " "),
                 estimated ? "" : ": fixed ones, since the counts of counts give none");
    }
    fmt::print("\n");
  }
}

Json json_of(const NgramOptions& options, const Source& source) {
  Json json{{"model", options.arpa.empty() ? "kneser-ney" : options.arpa},
            {"data", options.data.empty() ? Json() : Json(options.data)},
            {"unit", name_of(options.tokenization.unit)},
            {"order", source.model.order()},
            {"vocabulary", source.symbols()}};
  for (int order = 1; order <= source.model.order(); ++order) json["ngrams"].push_back(source.ngrams(order));
  for (const auto& [of, estimated] : source.discounts)
    json["discounts"].push_back({{"of", of}, {"estimated", estimated}});
  json["seconds"] = source.seconds;
  return json;
}

/// The file that `--out` names. InputErrors of file_to_write().
std::filesystem::path arpa_to_write(const NgramOptions& options, const Texts& texts) {
  std::vector<std::string> read{options.arpa, options.text};
  if (texts.corpus)
    for (const FileDigest& file : texts.corpus->files) read.push_back(file.path);
  return file_to_write("--out", options.out, read);
}

/// Prints how well the model predicts the validation and the test text, or the other text, or each symbol of
/// that, on stdout. Returns 0.
int ngram(const NgramOptions& options) {
  const Texts texts = texts_of(options);
  if (texts.corpus) print_notes(texts.corpus->notes);
  if (texts.other) print_notes(texts.other->notes);
  const std::filesystem::path out = arpa_to_write(options, texts);
  const Source source = source_of(options, texts);
  if (!out.empty())
    write_atomically(out,
                     [&](const WritePiece& write) { write_arpa(source.model, source.vocabulary, write); });
  if (options.per_symbol) {
    print_symbols(source, *texts.other);
    return 0;
  }

  Json json = json_of(options, source);
  if (!options.json) print_model(options, source);
  const auto measure = [&](const std::string& key, const Text& text) {
    const Scores scores = scores_of_text(source, text);
    if (!options.json) print_scores(text.name, scores);
    json[key] = Json{{"text", text.name}};
    json[key].update(rondo::json_of(scores));
  };
  if (texts.other) {
    measure("text", *texts.other);
  } else {
    measure("valid", texts.corpus->valid);
    if (texts.corpus->test) measure("test", *texts.corpus->test);
  }
  if (options.json) print_json(json);
  return 0;
}

}  // namespace

Command add_ngram(CommandLine& line) {
  const auto options = std::make_shared<NgramOptions>();
  CLI::App& app = add_command(
      line, "ngram", "estimate and measure an n-gram model: Kneser-Ney, or an ARPA file",
      "lm ngram --data ptb --order 5 --out ptb.arpa",
      "The estimate is modified Kneser-Ney, interpolated, of the training text (Chen & Goodman 1998), all "
      "n-grams kept. Each line is read from its beginning: all its symbols are scored, its end too. A symbol "
      "that the training text lacks is read as <unk>.");
  add_text(app, "--data", options->data, "DIR|FILE", data_text);
  CLI::Option* text =
      add_text(app, "--text", options->text, "FILE",
               "a text file to measure in place of the validation and the test text; -: standard input");
  CLI::Option* order =
      add_value(app, "--order", options->order, "N", integer(1, 100), "of the longest n-grams")
          ->capture_default_str();
  CLI::Option* out = add_text(app, "--out", options->out, "FILE.arpa", "an ARPA file to write");
  add_text(app, "--arpa", options->arpa, "FILE.arpa",
           "measure this model, of any toolkit, in place of estimating one")
      ->excludes(order)
      ->excludes(out);
  CLI::Option* run = add_text(app, "--vocabulary-from", options->vocabulary_from, "RUN",
                              "a run of a language model, whose text units and vocabulary this model has, so "
                              "that lm score --with can interpolate them")
                         ->excludes("--arpa");
  add_choice<Unit>(app, "--unit", options->tokenization.unit, "what a symbol is: words, characters or bytes",
                   {name_of(Unit::words), name_of(Unit::characters), name_of(Unit::bytes)})
      ->default_str(name_of(options->tokenization.unit))
      ->excludes(run);
  app.add_flag("--strip-lines", options->tokenization.strip_lines,
               "drop the white space around each line, as data.strip_lines does")
      ->excludes(run);
  CLI::Option* json = app.add_flag("--json", options->json, "print one JSON object");
  app.add_flag("--per-symbol", options->per_symbol,
               "print a row for each symbol of --text alone, as `lm score --per-symbol` does")
      ->needs(text)
      ->excludes(json);
  return {&app, [options] {
            const bool is_only_measured = !options->arpa.empty() && !options->text.empty();
            check_input(!options->data.empty() || is_only_measured,
                        "ngram: which text? As in: {} ngram --data ptb --order 5", this_program());
            if (!options->vocabulary_from.empty()) {
              const OpenRun of = open_run_without_weights(options->vocabulary_from);
              options->vocabulary = of.task_as<LanguageModellingTask>("language_modelling").vocabulary();
              options->tokenization = options->vocabulary->tokenization();
              check_input(options->tokenization.unit != Unit::pieces,
                          "{}: a model of pieces, which ARPA files do not have", options->vocabulary_from);
            }
            return ngram(*options);
          }};
}

}  // namespace rondo
