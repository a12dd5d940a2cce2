// `lm bleu`: translations compared with references, by BLEU and chrF (lm/evaluation/metrics.h). What it
// prints has sacreBLEU's form, so that a script that reads the one reads the other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/text.h"
#include "data/text/unicode.h"
#include "lm/commands/options.h"
#include "lm/evaluation/metrics.h"
#include "lm/program/files.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"
#include "tensor/version.h"

namespace rondo {
namespace {

struct BleuCommandOptions : BleuOptions {
  std::vector<std::string> references{};  // files, at least one
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// The sentences of a file, one per line.
std::vector<std::string> sentences_of(const std::string& file, const std::string& name) {
  const Text text = read_text(file, Pipes::accepted);
  print_notes(text.notes);
  check_input(!text.content.empty(), "{}: empty, where one sentence per line is expected", name);
  std::vector<std::string> sentences;
  for (const std::string_view line : split_lines(text.content)) {
    sentences.emplace_back(line);
    code_points(line, fmt::format("{}, line {}", name, sentences.size()));  // refuses what is not UTF-8
  }
  return sentences;
}

void print_text(const BleuStatistics& counts, const Bleu& it, const std::string& signature) {
  const double ratio = counts.reference_length == 0 ? 0
                                                    : static_cast<double>(counts.hypothesis_length) /
                                                          static_cast<double>(counts.reference_length);
  fmt::print("BLEU|{} = {:.2f} {:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})\n", signature,
             it.score, fmt::join(it.precisions, "/"), it.brevity_penalty, ratio, counts.hypothesis_length,
             counts.reference_length);
}

Json json_of(const BleuStatistics& counts, const Bleu& it, const std::string& signature) {
  return {{"score", it.score},
          {"signature", signature},
          {"precisions", it.precisions},
          {"matches", counts.matches},
          {"totals", counts.totals},
          {"brevity_penalty", it.brevity_penalty},
          {"hypothesis_length", counts.hypothesis_length},
          {"reference_length", counts.reference_length}};
}

/// Reads translations, one per line, from stdin; prints their figures on stdout. InputError for a file that
/// cannot be read, is empty or not UTF-8, and for different numbers of lines. Returns 0.
int print_bleu(const BleuCommandOptions& options) {
  const std::vector<std::string>& files = options.references;
  std::vector<std::vector<std::string>> references;
  for (const std::string& file : files) references.push_back(sentences_of(file, file));
  if (is_terminal(STDIN_FILENO))
    print_note("reading the translations from the terminal, up to Ctrl-D; from a file: < FILE");
  const std::string input = "standard input";
  const std::vector<std::string> translations = sentences_of(file_to_read("-"), input);
  const std::size_t count = translations.size();
  for (std::size_t i = 0; i < files.size(); ++i)
    check_input(references[i].size() == count,
                "{} has {} lines, {} {}: line N must be the same sentence in both", input, count, files[i],
                references[i].size());

  BleuStatistics bleu_counts;
  ChrfStatistics chrf_counts;
  std::vector<std::string_view> expected(references.size());
  for (std::size_t line = 0; line < count; ++line) {
    for (std::size_t i = 0; i < references.size(); ++i) expected[i] = references[i][line];
    bleu_counts += bleu_statistics(translations[line], expected, options);
    chrf_counts += chrf_statistics(translations[line], expected, options.lower_case);
  }

  const Bleu figure = bleu(bleu_counts);
  const std::string program = signature_version();
  const std::string signature = bleu_signature(options, references.size(), program);
  const std::string chrf_form = chrf_signature(options.lower_case, references.size(), program);
  if (options.json) {
    const Json json{{"sentences", count},
                    {"bleu", json_of(bleu_counts, figure, signature)},
                    {"chrf", {{"name", chrf_name}, {"score", chrf(chrf_counts)}, {"signature", chrf_form}}}};
    print_json(json);
    return 0;
  }
  print_text(bleu_counts, figure, signature);
  fmt::print("{}|{} = {:.2f}\n", chrf_name, chrf_form, chrf(chrf_counts));
  return 0;
}

}  // namespace

Command add_bleu(CommandLine& line) {
  const auto options = std::make_shared<BleuCommandOptions>();
  CLI::App& app = add_command(
      line, "bleu", "compare translations on standard input with references: BLEU, chrF",
      "lm bleu reference.en < translations.en",
      "A line is a sentence; line N of each reference translates the same sentence as line N of the input. "
      "The figures are those of sacreBLEU 2.6, in its form. Text that is tokenized, as models print it, "
      "needs --tokenize none and a tokenized reference.");
  add_text(app, "references", options->references, "REFERENCE", "files of reference translations")
      ->required();
  add_choice<BleuTokenization>(app, "--tokenize", options->tokenization,
                               "words of BLEU: 13a, as in WMT; none, at white space; char, characters")
      ->default_str(name_of(options->tokenization));
  app.add_flag("--lowercase", options->lower_case, "compare without regard to case");
  app.add_flag("--json", options->json, "print one JSON object");
  return {&app, [options] { return print_bleu(*options); }};
}

}  // namespace rondo
