// `lm translate`. Lines are translated in batches: as many as standard input holds at the moment, so that a
// person at a terminal gets each answer at once, and a file is translated at full speed.
#include "lm/program/translate.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "data/files.h"
#include "data/text.h"
#include "lm/decoding/translate.h"
#include "lm/program/alignment.h"
#include "lm/program/output.h"
#include "lm/program/translator.h"

namespace rondo {
namespace {

/// A sentence of standard input.
struct Sentence {
  std::string line;
  std::vector<std::int32_t> ids;  // with the end symbol; empty: the line is empty
};

BeamOptions search_options(const TranslateOptions& options, const OpenTranslator& run) {
  BeamOptions search = run.config.recipe.translation.decoding;
  search.beam = options.beam.value_or(search.beam);
  search.n_best = options.n_best.value_or(search.n_best);
  search.max_length = options.max_length.value_or(search.max_length);
  search.length_penalty = options.length_penalty.value_or(search.length_penalty);
  search.coverage_penalty = options.coverage_penalty.value_or(search.coverage_penalty);
  search.allow_unknown |= options.allow_unknown || options.replace_unknown;
  search.attention = options.replace_unknown || !options.attention.empty();
  check_options(search);
  check_input(!options.replace_unknown || run.vocabularies.source.tokenization().unit == Unit::words,
              "--replace-unk replaces words, and the symbols of {} are {}", run.folder.path.string(),
              name_of(run.vocabularies.source.tokenization().unit));
  check_input(!search.attention || run.model->options().attention != SourceAttention::none,
              "{}: its model has no attention, which --attention and --replace-unk need",
              run.folder.path.string());
  return search;
}

/// The line of the next input; false at the end.
bool next_line(std::string& line) {
  line.clear();
  int letter = 0;
  while ((letter = std::getc(stdin)) != EOF && letter != '\n') line += static_cast<char>(letter);
  check_input(!std::ferror(stdin), "standard input: cannot be read");
  return letter != EOF || !line.empty();
}

/// Whether a line can be read without waiting for it.
bool more_is_there() {
  pollfd state{STDIN_FILENO, POLLIN, 0};
  return poll(&state, 1, 0) == 1;
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
  Translator(const TranslateOptions& options, OpenTranslator& run)
      : options_(options), run_(run), search_(search_options(options, run)) {
    if (!options.attention.empty()) {
      attention_.reset(std::fopen(options.attention.c_str(), "w"));
      check_input(attention_ != nullptr, "--attention {}: cannot be written", options.attention);
      is_picture_ = options.attention.ends_with(".svg");
    }
  }

  Sentence read(std::string line, std::int64_t number) const {
    const Vocabulary& source = run_.vocabularies.source;
    const std::string name = fmt::format("standard input, line {}", number);
    std::vector<std::string> ignored;
    if (source.tokenization().unit != Unit::bytes) line = normalise_text(std::move(line), name, ignored);
    Sentence sentence{line, {}};
    if (!stripped(line).empty()) sentence.ids = source.encode(line + '\n', name).ids;
    return sentence;
  }

  void translate(const std::vector<Sentence>& sentences) {
    std::vector<std::vector<std::int32_t>> sources;
    for (const Sentence& it : sentences)
      if (!it.ids.empty()) sources.push_back(it.ids);
    const bool reverse = run_.config.recipe.translation.task.batches.reverse_source;
    const Vocabulary& target = run_.vocabularies.target;
    const auto found = rondo::translate(*run_.model, sources, reverse,
                                        {*target.line_end_id(), target.unknown_id()}, search_);
    auto next = found.begin();
    for (const Sentence& it : sentences) {
      if (it.ids.empty())
        fmt::print("\n");
      else
        for (const Hypothesis& hypothesis : *next++) print(it, hypothesis);
    }
    flush_output();
  }

  /// After the last sentence.
  void finish() {
    if (is_picture_) fmt::print(attention_.get(), "{}", svg_of(alignments_));
    check(!attention_ || (std::fflush(attention_.get()) == 0 && !std::ferror(attention_.get())),
          "--attention {}: not written: the disk is full?", options_.attention);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

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
    if (options_.scores) fmt::print("{:.4f}\t", hypothesis.score);
    fmt::print("{}\n", text);
    if (attention_) write(alignment_of(sentence, symbols, hypothesis));
  }

  Alignment alignment_of(const Sentence& sentence, const std::vector<std::string>& target,
                         const Hypothesis& hypothesis) const {
    Alignment it{source_symbols(sentence), target, hypothesis.attention};
    it.source.emplace_back(end_of_line);
    if (hypothesis.finished) it.target.emplace_back(end_of_line);
    for (std::vector<std::string>* symbols : {&it.source, &it.target})
      for (std::string& symbol : *symbols) symbol = printable(symbol);
    return it;
  }
  void write(Alignment alignment) {
    if (is_picture_)
      alignments_.push_back(std::move(alignment));
    else
      fmt::print(attention_.get(), "{}\n", json_of(alignment).dump());
  }

  static constexpr const char* end_of_line = "</s>";

  const TranslateOptions& options_;
  OpenTranslator& run_;
  BeamOptions search_;
  std::unique_ptr<std::FILE, Close> attention_;
  bool is_picture_ = false;
  std::vector<Alignment> alignments_;  // of the picture
};

}  // namespace

int translate(const TranslateOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenTranslator run = open_translator(options.run, device, options.task);
  Translator translator(options, run);
  constexpr std::size_t at_once = 1024;
  std::vector<Sentence> sentences;
  std::string line;
  for (std::int64_t number = 1; next_line(line); ++number) {
    sentences.push_back(translator.read(line, number));
    if (sentences.size() < at_once && more_is_there()) continue;
    translator.translate(sentences);
    sentences.clear();
  }
  if (!sentences.empty()) translator.translate(sentences);
  translator.finish();
  return 0;
}

}  // namespace rondo
