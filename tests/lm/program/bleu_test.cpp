// `lm bleu`: as a user starts it; its figures are those of sacreBLEU.
#include <gtest/gtest.h>

#include <string>

#include "lm/program/run.h"
#include "tests/golden/translation_golden.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// A corpus of translation.json as files; the words of a command on it.
class Corpus {
 public:
  explicit Corpus(const std::string& name) : json_(translation_golden().at("corpora").at(name)) {
    for (const std::string& line : json_.at("hypotheses").get<Strings>()) hypotheses_ += line + '\n';
    const std::vector<Strings> references = references_of(json_);
    for (std::size_t i = 0; i < references[0].size(); ++i) {
      std::string text;
      for (const Strings& of_sentence : references) text += of_sentence[i] + '\n';
      write_bytes(folder_ / std::to_string(i), text);
      words_.push_back(folder_ / std::to_string(i));
    }
  }

  std::string output(const Words& options) const {
    return output_of_lm(Words{"bleu"} + words_ + options, hypotheses_);
  }
  /// What sacreBLEU prints, with our version.
  std::string line(const std::string& metric, std::size_t index) const {
    return with_version(json_.at(metric).at(index).at("line"), "rondo-" + version()) + "\n";
  }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  TemporaryFolder folder_;
  std::string hypotheses_;
  Words words_;
};

TEST(LmBleu, PrintsWhatSacrebleuPrints) {
  for (const char* name : {"english", "three references", "empty lines", "nothing but empty lines"}) {
    const Corpus corpus(name);
    EXPECT_EQ(corpus.output({}), corpus.line("bleu", 0) + corpus.line("chrf", 0));
    EXPECT_EQ(corpus.output({"--tokenize", "none"}), corpus.line("bleu", 1) + corpus.line("chrf", 0));
    EXPECT_EQ(corpus.output({"--tokenize", "char", "--lowercase"}),
              corpus.line("bleu", 5) + corpus.line("chrf", 1));
  }
}

TEST(LmBleu, PrintsJson) {
  const Corpus corpus("german");
  const Json json = Json::parse(corpus.output({"--json"})), &expected = corpus.json().at("bleu").at(0);
  EXPECT_EQ(json.at("sentences"), corpus.json().at("hypotheses").size());
  const Json& bleu = json.at("bleu");
  EXPECT_NEAR(bleu.at("score").get<double>(), expected.at("score").get<double>(), 1e-9);
  EXPECT_EQ(json.at("chrf").at("name"), "chrF2");
  EXPECT_NEAR(json.at("chrf").at("score").get<double>(),
              corpus.json().at("chrf").at(0).at("score").get<double>(), 1e-9);
}

TEST(LmBleu, ReadsLineEndsOfWindowsAndALastLineWithoutAny) {
  const TemporaryFolder folder;
  write_bytes(folder / "reference", "\ufeffa dog runs fast\r\nso\r\n");
  const Result result = run_lm({"bleu", folder / "reference"}, {.input = "a dog runs fast\nso"});
  expect_contains(result.out,
                  "= 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)");
  expect_contains(result.err, "2 line ends CRLF were read as LF");
}

TEST(LmBleu, RefusesInOneLine) {
  const TemporaryFolder folder;
  const std::string two = folder / "two", empty = folder / "empty", latin = folder / "latin";
  write_bytes(two, "a\nb\n");
  write_bytes(empty, "");
  write_bytes(latin, "a\n\xe9t\xe9\n");
  const auto refused = [](const Words& words, const std::string& input, const std::string& why) {
    expect_refused(run_lm(words, {.input = input}), why);
  };
  refused({"bleu"}, "a\n", "bleu: references is required");
  refused({"bleu", two}, "a\nb\nc\n", "standard input has 3 lines, " + two + " 2: line N must be the same");
  refused({"bleu", two, folder / "none"}, "a\nb\n", "none: cannot be opened: No such file");
  refused({"bleu", folder.path()}, "a\n", "a folder, where a file is expected");
  refused({"bleu", two}, "", "standard input: empty");
  refused({"bleu", empty}, "a\n", empty + ": empty");
  refused({"bleu", latin}, "a\nb\n", latin + ", line 2: not UTF-8 at byte 0: 0xe9; convert it to UTF-8");
  refused({"bleu", two}, "\xff\n\n", "standard input, line 1: not UTF-8");
  refused({"bleu", two, "--tokenize", "intl"}, "a\nb\n", "--tokenize: intl not in {13a,none,char}");
}

}  // namespace
}  // namespace rondo
