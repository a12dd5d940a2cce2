// `lm translate`: sentences from standard input, their translations to standard output, line by line. Lines
// are translated in batches: as many as standard input holds at the moment, so that a person at a terminal
// gets each answer at once, and a file is translated at full speed.
#include "lm/decoding/translate.h"

#include <cstdint>
#include <optional>
#include <string>

#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/decoding/beam_search.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/page.h"
#include "lm/tasks/multi_task.h"

namespace rondo {
namespace {

struct TranslateOptions : ComputeOptions {
  std::string run;
  std::string task;                                      // of a multi-task run; empty: its first one
  std::optional<std::int64_t> beam, n_best, max_length;  // none: the run's
  std::optional<double> length_penalty, coverage_penalty;
  bool allow_unknown = false;
  bool scores = false;           // print them before the translations; with n_best > 1 they are there
  bool replace_unknown = false;  // by the source word that was attended to most
  std::string attention;         // a file for lm/report/page.h, a picture if .svg; empty: none
};

/// The encoder-decoder of a run, and its settings.
struct OpenTranslator {
  std::string run;
  EncoderDecoder& model;
  const PairVocabularies& vocabularies;
  const TranslationSettings& settings;
};

/// A sentence of standard input.
struct Sentence {
  std::string line;
  std::vector<std::int32_t> ids;  // with the end symbol; empty: the line is empty

  bool is_empty() const { return ids.empty(); }
};

BeamOptions search_options(const TranslateOptions& options, const OpenTranslator& run) {
  BeamOptions search = run.settings.decoding;
  search.beam = options.beam.value_or(search.beam);
  search.n_best = options.n_best.value_or(search.n_best);
  search.max_length = options.max_length.value_or(search.max_length);
  search.length_penalty = options.length_penalty.value_or(search.length_penalty);
  search.coverage_penalty = options.coverage_penalty.value_or(search.coverage_penalty);
  search.allow_unknown |= options.allow_unknown || options.replace_unknown;
  search.attention = options.replace_unknown || !options.attention.empty();
  check_input(
      search.n_best <= search.beam,
      "--n-best {}: a beam of {} keeps fewer hypotheses; give --beam {} or more, or a smaller --n-best",
      search.n_best, search.beam, search.n_best);
  check_options(search);
  check_input(!options.replace_unknown || run.vocabularies.source.tokenization().unit == Unit::words,
              "--replace-unk replaces words, and the symbols of {} are {}", run.run,
              name_of(run.vocabularies.source.tokenization().unit));
  const bool needs_attention = search.attention || search.coverage_penalty > 0;
  check_input(!needs_attention || run.model.options().attention != SourceAttention::none,
              "{}: its model has no attention, which --attention, --replace-unk and --coverage-penalty need",
              run.run);
  return search;
}

/// The words of a line, without its end.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  SymbolReader reader(line, {.unit = Unit::words}, "", LastLine::goes_on);
  while (const auto word = reader.next()) words.emplace_back(*word);
  return words;
}

class Translator {
 public:
  Translator(const TranslateOptions& options, const OpenTranslator& run, const StopSignals& signals)
      : options_(options),
        run_(run),
        search_(search_options(options, run)),
        signals_(signals),
        attention_(options.attention) {}

  /// Throws Stopped after a signal.
  void translate_all() {
    InputLines lines([&] { signals_.throw_if_received(); });
    attention_.fill([&] {
      answer_lines(
          lines, [&](const std::string& line, const std::string& name) { return read(line, name); },
          [&](const std::vector<Sentence>& sentences) { translate(sentences); });
    });
    print_warning(warning_of_unknowns({"the input", unknowns_, symbols_, false}));
    print_warning(warning_of_empty(empty_, translated_));
  }

 private:
  Sentence read(const std::string& line, const std::string& name) const {
    const Vocabulary& source = run_.vocabularies.source;
    std::string text = text_of_line(line, name, source.tokenization().unit);
    std::vector<std::int32_t> ids = encoded_line(source, text, name);
    text.pop_back();  // the newline
    return {std::move(text), std::move(ids)};
  }

  /// After a signal throws Stopped, and prints nothing of these sentences.
  void translate(const std::vector<Sentence>& sentences) {
    std::vector<std::vector<std::int32_t>> sources;
    for (const Sentence& it : sentences)
      if (!it.is_empty()) sources.push_back(it.ids);
    const bool reverse = run_.settings.train.batches.reverse_source;
    const Vocabulary& target = run_.vocabularies.target;
    const auto found =
        rondo::translate(run_.model, sources, reverse, {*target.line_end_id(), target.unknown_id()}, search_,
                         [&](std::int64_t done) { show_progress(done, std::ssize(sources)); });
    progress_.erase();
    auto next = found.begin();
    for (const Sentence& it : sentences) {
      if (it.is_empty()) {
        print(it, Hypothesis{});
      } else {
        ++translated_;
        symbols_ += std::ssize(it.ids);
        if (const auto unknown = run_.vocabularies.source.unknown_id())
          unknowns_ += std::count(it.ids.begin(), it.ids.end(), *unknown);
        empty_ += next->front().ids.empty();
        for (const Hypothesis& hypothesis : *next++) print(it, hypothesis);
      }
      ++printed_;
    }
    flush_output();
  }

  void show_progress(std::int64_t done, std::int64_t sentences) {
    signals_.throw_if_received();
    if (done < sentences) progress_.status(fmt::format("{} sentences translated", printed_ + done));
  }

  /// The symbols of a translation, without its end; unknown ones replaced if that is asked for.
  std::vector<std::string> symbols_of(const Sentence& sentence, const Hypothesis& hypothesis) const {
    const Vocabulary& target = run_.vocabularies.target;
    const std::vector<std::string> source =
        options_.replace_unknown ? source_symbols(sentence) : std::vector<std::string>();
    std::vector<std::string> symbols;
    for (std::size_t t = 0; t < hypothesis.ids.size(); ++t) {
      const bool replaced = options_.replace_unknown && hypothesis.ids[t] == target.unknown_id();
      symbols.push_back(replaced ? source.at(position_attended(hypothesis.attention[t]))
                                 : std::string(target.symbol(hypothesis.ids[t])));
    }
    return symbols;
  }
  /// The symbols of a sentence as they were read, without its end.
  std::vector<std::string> source_symbols(const Sentence& sentence) const {
    const Vocabulary& source = run_.vocabularies.source;
    if (source.tokenization().unit == Unit::words) return words_of(sentence.line);
    std::vector<std::string> symbols;
    for (std::size_t s = 0; s + 1 < sentence.ids.size(); ++s)
      symbols.emplace_back(source.symbol(sentence.ids[s]));
    return symbols;
  }
  /// The position of the source, except its end, that has the largest weight.
  static std::size_t position_attended(const std::vector<float>& weights) {
    return static_cast<std::size_t>(std::max_element(weights.begin(), weights.end() - 1) - weights.begin());
  }

  void print(const Sentence& sentence, const Hypothesis& hypothesis) {
    const std::vector<std::string> symbols = symbols_of(sentence, hypothesis);
    SymbolWriter writer(run_.vocabularies.target.tokenization().unit);
    std::string text;
    for (const std::string& symbol : symbols) text += writer.next(symbol);
    if (search_.n_best > 1)
      fmt::print("{} ||| {} ||| {:.4f}\n", printed_, text, hypothesis.score);
    else if (options_.scores)
      fmt::print("{:.4f}\t{}\n", hypothesis.score, text);
    else
      fmt::print("{}\n", text);
    if (attention_) attention_.add(alignment_of(sentence, symbols, hypothesis));
  }

  Alignment alignment_of(const Sentence& sentence, const std::vector<std::string>& target,
                         const Hypothesis& hypothesis) const {
    if (sentence.is_empty()) return {};
    Alignment it{source_symbols(sentence), target, hypothesis.attention};
    it.source.emplace_back(end_of_line);
    if (hypothesis.finished) it.target.emplace_back(end_of_line);
    for (std::vector<std::string>* symbols : {&it.source, &it.target})
      for (std::string& symbol : *symbols) symbol = printable(symbol);
    return it;
  }

  static constexpr const char* end_of_line = "</s>";

  const TranslateOptions& options_;
  const OpenTranslator& run_;
  BeamOptions search_;
  const StopSignals& signals_;
  AttentionFile attention_;
  Progress progress_{stderr};
  std::int64_t printed_ = 0;                 // sentences
  std::int64_t translated_ = 0, empty_ = 0;  // of them that are not empty; of their translations
  std::int64_t symbols_ = 0, unknowns_ = 0;  // of the sentences
};

/// One line of output for each line of input, in its order; an empty line gives an empty translation, whose
/// score is 0. With n_best > 1 up to as many lines, "NUMBER ||| TRANSLATION ||| SCORE", the number of the
/// sentence from 0, the form of Moses. Returns 0. Throws Stopped after a signal, and InputError
/// for a line that cannot be read; what was translated before is printed.
int translate(const TranslateOptions& options) {
  const Device device = choose_device(options).device;
  const OpenTask opened = open_task(options.run, device);
  auto& task = opened.task_as<TranslatingTask>("translation");
  if (!options.task.empty()) opened.task().choose_part(options.task, "--task");
  const auto [model, vocabularies, has_source] = task.translator(*opened.model);
  check_input(has_source, "--task {}: it is a language model, without a source to translate", options.task);
  const OpenTranslator run{options.run, model, vocabularies, task.translation()};
  const StopSignals signals;
  Translator(options, run, signals).translate_all();
  return 0;
}

}  // namespace

Command add_translate(CommandLine& line) {
  const auto options = std::make_shared<TranslateOptions>();
  CLI::App& app = add_command(
      line, "translate", "translate the sentences of standard input, one per line",
      "lm translate runs/attention-multi30k-1 < sentences.de",
      "Sentences are written as in the run's training text. Ctrl-C stops the translation; what was printed "
      "before is whole lines.");
  add_run(app, "run", options->run, "the run folder");
  app.add_option("--task", options->task, "a task of a multi-task run (default: its first)")
      ->type_name("NAME");
  add_value(app, "--beam", options->beam, "N", integer(1, largest_beam),
            "hypotheses at a time; 1: greedy (default: the run's)");
  add_value(app, "--n-best", options->n_best, "N", integer(1, largest_beam),
            "translations of each sentence, best first; above 1 the lines are NUMBER ||| TRANSLATION ||| "
            "SCORE, the number of the sentence from 0");
  add_value(app, "--max-length", options->max_length, "N", integer(1, 1000000),
            "symbols of a translation, with its end symbol");
  add_value(app, "--length-penalty", options->length_penalty, "A", not_negative(),
            "above 0 favours long translations");
  add_value(app, "--coverage-penalty", options->coverage_penalty, "B", not_negative(),
            "above 0 favours translations that have attended to the whole sentence");
  app.add_flag("--allow-unk", options->allow_unknown, "let <unk> be written");
  app.add_flag("--replace-unk", options->replace_unknown,
               "write the word of the sentence that was attended to most in place of <unk>");
  app.add_flag("--scores", options->scores,
               "print the score and a tab before each translation; --n-best prints it anyway");
  add_text(
      app, "--attention", options->attention, "FILE.svg|FILE.jsonl",
      "write what each symbol attended to: a picture if the name ends in .svg, else a JSON object a line");
  add_device(app, *options);
  return {&app, [options] { return translate(*options); }};
}

}  // namespace rondo
