// Texts: cleaned, cut into symbols, made a vocabulary, encoded, decoded, and cut into three. The first byte
// chooses the unit and the limits of the vocabulary.
#include "data/text/text.h"

#include "data/text/corpus.h"
#include "data/text/symbols.h"
#include "data/text/vocabulary.h"
#include "tensor/error.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

/// The ids, or nothing for a text that the vocabulary refuses.
std::optional<Encoded> encoded(const Vocabulary& vocabulary, const Text& text) {
  try {
    return vocabulary.encode(text);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void check_vocabulary_file(const Vocabulary& vocabulary, const Text& text) {
  const std::string written = vocabulary.to_text();
  const auto again = Vocabulary::from_text(written, "vocab.txt", vocabulary.tokenization());
  demand(again.to_text() == written, "another vocab.txt when written again");
  demand(again.unknown_is_trained() == vocabulary.unknown_is_trained(), "another <unk> when read again");
  const auto before = encoded(vocabulary, text), after = encoded(again, text);
  demand(before.has_value() == after.has_value(), "read again it refuses another text");
  demand(!before || before->ids == after->ids, "other ids when read again");
}

void check_parts(std::string_view raw, const Text& text, Unit unit) {
  const CorpusText corpus = open_corpus(scratch("corpus.txt", raw), unit);
  demand(corpus.train.content + corpus.valid.content + corpus.test->content == text.content,
         "the three parts are not the whole");
  if (unit == Unit::characters)
    for (const Text* part : {&corpus.train, &corpus.valid, &*corpus.test}) check_utf8(part->content, "part");
}

void run_text(std::string_view raw) {
  const unsigned choice = take_choice(raw);
  const Tokenization how{static_cast<Unit>(choice % 3), choice % 3 != 0 && (choice & 4) != 0};
  const VocabularyLimits limits{.min_count = (choice & 8) != 0 ? 2 : 1,
                                .max_size = (choice & 16) != 0 ? 5 : 0,
                                .reserve_unknown = (choice & 32) == 0};
  const Text text = clean_text(std::string(raw), "text", how.unit);
  const Vocabulary vocabulary(text, how, limits);
  const auto is_complete = limits.min_count == 1 && limits.max_size == 0;
  if (const auto ids = encoded(vocabulary, text); ids && is_complete && ids->missing.empty())
    demand(how.unit == Unit::words || how.strip_lines || vocabulary.decode(ids->ids) == text.content,
           "decoded to another text");
  if (vocabulary.size() > 0) check_vocabulary_file(vocabulary, text);
  check_parts(raw, text, how.unit);
}

}  // namespace

Target text() {
  const std::string words = "the cat <unk> sat\n on  the\tmat \n\nand the dog\n";
  const std::string characters =
      "\xef\xbb\xbf\xc3\xa4 \xe2\x82\xac\r\n \xf0\x9f\x8e\xb5 and so on to the end of it all\r\n\t\r\n";
  std::vector<std::string> seeds;
  for (const char choice : {0, 1, 2, 4 + 1, 4 + 2, 8, 16, 16 + 1, 32})
    for (const std::string& text : {words, characters}) seeds.push_back(choice + text);
  return {"text", run_text, seeds};
}

}  // namespace rondo::fuzz
