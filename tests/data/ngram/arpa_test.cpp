// ARPA files, of other toolkits and our own: data/ngram/arpa.h.
#include "data/ngram/arpa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "data/ngram/kneser_ney.h"
#include "tests/data/files.h"
#include "tests/data/ngram/ngram_sums.h"

namespace rondo {
namespace {

/// As SRILM writes: a blank line first, tabs, sorted words, `<s>` with -99, no weight where nothing goes on.
/// Pruned: "a ü b" is there, its suffix "ü b" is not.
constexpr const char* srilm = R"(
\data\
ngram 1=5
ngram 2=4
ngram 3=1

\1-grams:
-0.9	</s>
-99	<s>	-0.3
-0.7	a	-0.2
-0.8	b	-0.1
-0.6	ü	-0.4

\2-grams:
-0.25	<s> a	0
-0.35	a ü	-0.15
-0.45	b </s>
-0.55	ü a

\3-grams:
-0.05	a ü b

\end\
)";

/// As KenLM writes: `<unk>` first, `<s>` with 0, a weight even where it is 0, a last blank line.
constexpr const char* kenlm = R"(\data\
ngram 1=4
ngram 2=2

\1-grams:
-1.2	<unk>	0
0	<s>	-0.30103
-0.5	</s>	0
-0.4	a	-0.1

\2-grams:
-0.2	<s> a
-0.3	a </s>

\end\

)";

class ArpaFile : public testing::Test {
 protected:
  Arpa read(std::string_view text, Unit unit = Unit::words) {
    return read_arpa(folder_.write("model.arpa", text), {unit});
  }
  /// log10 p of the words of a line, one after the other.
  static std::vector<double> decimals(const Arpa& arpa, const std::string& line) {
    const std::vector<std::int32_t> ids = arpa.vocabulary.encode(line, "a line").ids;
    std::vector<double> result = log_probabilities(arpa.model, ids, arpa.vocabulary.line_end_id());
    for (double& it : result) it /= std::numbers::ln10;
    return result;
  }
  static void expect_decimals(const Arpa& arpa, const std::string& line,
                              const std::vector<double>& expected) {
    const std::vector<double> found = decimals(arpa, line);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)  // equal infinities have no difference
      EXPECT_TRUE(found[i] == expected[i] || std::abs(found[i] - expected[i]) < 1e-12)
          << i << ": " << found[i];
  }
  /// What is refused, at which line: `from` in the text of SRILM replaced by `to`.
  void expect_refused(const std::string& from, const std::string& to, int line, const std::string& what) {
    std::string text = srilm;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    expect_input_error([&] { read(text); }, "model.arpa:" + std::to_string(line) + ": ", what);
  }
  /// A model of a text, written and read; how the file looks goes to written_.
  Arpa round_trip(const std::string& content, Tokenization tokenization, int order) {
    const Text train{.name = "train", .content = content, .sha256 = {}, .notes = {}};
    const Vocabulary vocabulary(train, tokenization);
    const KneserNey it =
        kneser_ney(vocabulary.encode(train).ids, vocabulary.size(), vocabulary.line_end_id(), order);
    written_.clear();
    write_arpa(it.model, vocabulary, [&](std::string_view piece) { written_ += piece; });
    Arpa arpa = read_arpa(folder_.write("own.arpa", written_), tokenization);
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
      EXPECT_TRUE(arpa.vocabulary.id(vocabulary.symbol(id)));
    EXPECT_EQ(arpa.vocabulary.size(), vocabulary.size());
    for (int k = 2; k <= order; ++k) EXPECT_EQ(arpa.model.ngrams(k), it.model.ngrams(k));
    expect_sums_to_one(arpa.model, 1e-7);
    const auto before = log_probabilities(it.model, vocabulary.encode(train).ids, vocabulary.line_end_id());
    const auto after =
        log_probabilities(arpa.model, arpa.vocabulary.encode(train).ids, arpa.vocabulary.line_end_id());
    EXPECT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-7);
    return arpa;
  }

  TemporaryFolder folder_;
  std::string written_;
};

TEST_F(ArpaFile, OfSrilm) {
  const Arpa arpa = read(srilm);
  EXPECT_EQ(arpa.model.order(), 3);
  EXPECT_TRUE(arpa.is_closed);
  EXPECT_EQ(arpa.vocabulary.size(), 5) << "with <unk>, which is last";
  EXPECT_EQ(arpa.vocabulary.line_end_id(), 0);
  EXPECT_EQ(arpa.vocabulary.unknown_id(), 4);
  expect_decimals(arpa, "a ü b\n", {-0.25, 0.0 - 0.35, -0.05, -0.45});
  expect_decimals(arpa, "ü b b\n", {-0.3 - 0.6, -0.4 - 0.8, -0.1 - 0.8, -0.45});
  expect_decimals(arpa, "\na ü a\n", {-0.3 - 0.9, -0.25, -0.35, -0.15 - 0.55, -0.2 - 0.9});
}

// The numbers are full_scores() of the kenlm module 0.3 for these lines, but for what the model does not
// know, which gets a finite number there; SRILM leaves it out.
TEST_F(ArpaFile, AClosedVocabulary) {
  const Arpa arpa = read(
      "\\data\\\nngram 1=4\nngram 2=4\n\n\\1-grams:\n-99\t<s>\t-0.30103\n-0.7\t</s>\n-0.6\ta\t-0.2\n"
      "-0.5\tb\t-0.1\n\n\\2-grams:\n-0.2\t<s> a\n-0.3\ta b\n-0.4\tb </s>\n-0.45\tb a\n\n\\end\\\n");
  EXPECT_TRUE(arpa.is_closed);
  expect_decimals(arpa, "b a zz\n", {-0.80103, -0.45, -INFINITY, -0.7});
  expect_decimals(arpa, "zz a b\n", {-INFINITY, -0.6, -0.3, -0.4});
}

TEST_F(ArpaFile, UnknownWordsInCapitalsAndInfinity) {
  const std::string text =
      "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-1.2\t<UNK>\t-0.3\n-inf\t<s>\t-0.30103\n-0.5\t</s>\n"
      "-0.4\ta\t-0.1\n-0.9\tb\t-0.2\n\n\\2-grams:\n-0.2 <s> a\n-0.3 a <UNK>\n-0.7 <UNK> b\n\n\\end\\\n";
  const Arpa arpa = read(text);
  EXPECT_FALSE(arpa.is_closed);
  expect_decimals(arpa, "a zz b\n", {-0.2, -0.3, -0.7, -0.7});  // of kenlm
  std::string within = "<unk> is no word here\n" + text;
  within.replace(within.find("\tb\t"), 3, "\tx<unk>\t").replace(within.find("> b\n"), 4, "> x<unk>\n");
  expect_decimals(read(within), "a zz x<unk>\n", {-0.2, -0.3, -0.7, -0.7});
  std::string both = text;
  both.replace(both.find("\tb\t"), 3, "\t<unk>\t").replace(both.find("> b\n"), 4, "> a\n");
  EXPECT_TRUE(read(both).vocabulary.id("<UNK>")) << "a word beside <unk>, as Rondo itself writes";
}

TEST_F(ArpaFile, OfKenlm) {
  const Arpa arpa = read(kenlm);
  EXPECT_EQ(arpa.model.order(), 2);
  EXPECT_EQ(arpa.vocabulary.unknown_id(), 0);
  expect_decimals(arpa, "a c a\n", {-0.2, -0.1 - 1.2, -0.4, -0.3});
  EXPECT_EQ(arpa.vocabulary.encode("a c a\n", "a line").unknowns, 1);
}

TEST_F(ArpaFile, WhiteSpaceIsFree) {
  std::string crlf = "made by hand\r\n\r\n";
  for (const char letter : std::string(srilm))
    crlf += letter == '\n' ? "\r\n" : letter == '\t' ? "  " : std::string(1, letter);
  const Arpa arpa = read(crlf + "what follows is not read");
  expect_decimals(arpa, "a ü b\n", {-0.25, -0.35, -0.05, -0.45});
  std::string spaced = kenlm;
  spaced.replace(spaced.find("ngram 2=2"), 9, " ngram  2 = 2 ");
  EXPECT_EQ(read(spaced).model.ngrams(2), 2);
  spaced.replace(spaced.find("\ta\t"), 3, " \ta\vb ");  // SRILM divides at spaces and tabs alone
  spaced.replace(spaced.find("<s> a"), 5, "<s> a\vb").replace(spaced.find("\ta </s>"), 7, " a\vb </s>");
  EXPECT_TRUE(read(spaced).vocabulary.id("a\vb"));
  spaced.resize(spaced.rfind('\\') + 1);  // no newline behind \end\ .
  EXPECT_EQ(read(spaced).model.ngrams(2), 2);
}

TEST_F(ArpaFile, UnigramsAloneAndWithoutLineStart) {
  const Arpa arpa = read("\\data\\\nngram 1=2\n\\1-grams:\n-0.5 </s> 7\n-99 a\n\\end\\\n");
  const auto found = decimals(arpa, "a\n");
  EXPECT_EQ(found[0], -INFINITY);  // -99 is the logarithm of 0
  EXPECT_NEAR(found[1], -0.5, 1e-12);
}

TEST_F(ArpaFile, Characters) {
  const Arpa arpa = read(
      "\\data\\\nngram 1=6\n\\1-grams:\n-0.5 </s>\n-0.6 <space>\n-0.7 \\\n-0.8 \\t\n-0.9 ü\n-1 "
      "<unk>\n\\end\\\n",
      Unit::characters);
  expect_decimals(arpa, " \\\tüx\n", {-0.6, -0.7, -0.8, -0.9, -1, -0.5});
  expect_input_error([&] { read(srilm, Unit::bytes); },
                     "model.arpa:12: 'ü' cannot occur in a text of bytes: this is a model of another unit");
  expect_input_error([&] { read("\\data\\\nngram 1=1\n\\1-grams:\n-1 the\n\\end\\\n", Unit::characters); },
                     "model.arpa:4: 'the' cannot occur in a text of characters");
}

TEST_F(ArpaFile, RefusesWhatIsNotTheFormat) {
  expect_refused("\\data\\", "data", 23, "no \\data\\: is it an ARPA file?");
  expect_refused("ngram 2=4", "ngram 3=4", 4, "expected 'ngram 2=' and a number: 'ngram 3=4'");
  expect_refused("ngram 2=4", "ngram 2=4x", 4, "expected 'ngram 2=' and a number");
  expect_refused("ngram 2=4", "ngram 2=-4", 4, "expected 'ngram 2=' and a number");
  expect_refused("ngram 1=5\nngram 2=4\nngram 3=1\n", "", 4,
                 "expected 'ngram 1=' and a number: '\\1-grams:'");
  expect_refused("\\1-grams:", "\\unigrams:", 7, "expected \\1-grams:: '\\unigrams:'");
  expect_refused("\\2-grams:", "\\3-grams:", 14, "expected \\2-grams:: '\\3-grams:'");
  expect_refused("-0.25\t<s> a\t0\n", "", 19, "only 3 2-grams, where \\data\\ has 4");
  expect_refused("-0.25\t<s> a\t0\n", "-0.25 <s> a\n-0.5 a a\n", 19,
                 "more 2-grams than the 4 of \\data\\: '-0.55");
  expect_refused("\\3-grams:\n-0.05\ta ü b\n\n\\end\\\n", "", 19,
                 "the file ends here, where \\end\\ is expected");
  expect_refused("\\end\\\n", "", 22, "the file ends here, where \\end\\ is expected: is it cut short?");
  expect_refused("\\end\\\n", "\\4-grams:\n", 23, "expected \\end\\ after the 3-grams: '\\4-grams:'");
}

TEST_F(ArpaFile, RefusesWhatIsNoNgram) {
  expect_refused("-0.7\ta", "nan\ta", 10, "'nan' is not a number");
  expect_refused("-0.7\ta", "inf\ta", 10, "'inf' is not a number");
  expect_refused("-0.7\ta", "-0.7.1\ta", 10, "'-0.7.1' is not a number");
  expect_refused("-0.7\ta", "0.7\ta", 10, "log10 of a probability is above 0: '0.7'");
  expect_refused("-0.4\n", "x\n", 12, "'x' is not a number");
  expect_refused("<s> a\t0", "a", 15, "expected log10 p, 2 words and perhaps a weight: '-0.25\ta'");
  expect_refused("<s> a\t0", "<s> a 0 0", 15, "expected log10 p, 2 words and perhaps a weight");
  expect_refused("b </s>", "b c", 17, "'c' is not among the unigrams");
  expect_refused("b </s>", "c </s>", 17, "'c' is not among the unigrams");
  expect_refused("b </s>", "b <s>", 17, "<s> inside an n-gram: it only begins a line");
  expect_refused("b </s>", "a ü", 17, "this 2-gram is already on line 16");
  expect_refused("a ü b", "b ü b", 21, "the first 2 words are not among the 2-grams: '-0.05\tb ü b'");
  expect_refused("\tb\t", "\ta\t", 11, "'a' appears twice");
  expect_refused("\tb\t", "\t<s>\t", 11, "'<s>' appears twice");
  expect_refused("\tb\t", "\t<eos>\t", 11, "'<eos>' appears twice");
  expect_refused("</s>", "z", 14, "</s> is not among the unigrams");
  expect_input_error([&] { read_arpa(folder_ / "none", {}); }, "cannot be opened");
}

TEST_F(ArpaFile, WordsReturn) {
  const Arpa arpa = round_trip("the cat sat\nthe cat\n\n1\\/2 ü <space> \\t sat <unk>\n", {Unit::words}, 3);
  EXPECT_NE(written_.find("\nngram 2=13\n"), std::string::npos) << written_;
  for (const char* line :
       {"\t1\\/2\t", "\t<space>\t", "\t\\t\t", "\t</s>\n", "-99\t<s>\t", "\t<s> the cat\n"})
    EXPECT_NE(written_.find(line), std::string::npos) << line << written_;
  EXPECT_EQ(written_.find("<eos>"), std::string::npos);
  expect_input_error([&] { round_trip("a <s> b\n", {Unit::words}, 2); }, "the text has the word '<s>'");
}

TEST_F(ArpaFile, CharactersAndBytesReturn) {
  const std::string content = "a b\\c\tü <s>\\t\n\nab ü\x0c\r \x7f\n";
  round_trip(content, {Unit::characters}, 4);
  for (const char* name : {"\t<space>\t", "\t\\\t", "\t\\t\t", "\tü\t", "\t\\x0c\t", "\t\\x7f\t", "\t</s>\n"})
    EXPECT_NE(written_.find(name), std::string::npos) << name << written_;
  round_trip(content, {Unit::bytes}, 4);
  for (const char* name : {"\t\\xc3\t", "\t\\xbc\t", "\t<space>\t"})
    EXPECT_NE(written_.find(name), std::string::npos) << name << written_;
  round_trip("one line that has no end", {Unit::characters}, 5);
  EXPECT_NE(written_.find("-99\t</s>\n"), std::string::npos) << written_;
}

TEST_F(ArpaFile, WritesOnlyWithTheVocabularyOfTheModel) {
  const Arpa arpa = read(srilm);
  EXPECT_THROW(write_arpa(arpa.model, read(kenlm).vocabulary, [](std::string_view) {}), Error);
}

}  // namespace
}  // namespace rondo
