// Cloze questions made from running text: which words are entities, what becomes a question, and what a user
// may ask.
#include <gtest/gtest.h>

#include <set>

#include "data/sentences/questions.h"
#include "data/text/text.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

const char* const article =
    " = Paris = \n"
    "The engineer Gustave Eiffel lived in Paris . The tower was built by Gustave Eiffel for the Fair .\n"
    " = = Later = = \n"
    "It is in Paris . Visitors of Paris know Gustave Eiffel .\n"
    " = Rome = \n"
    "Rome is old . Nobody knows why .\n";

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string_view line : split_lines(text)) all.emplace_back(line);
  return all;
}

/// The same text with "@" in place of each marker's number, so that it does not depend on random numbers.
std::string without_numbers(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    text += (text.empty() ? "" : " ") + std::string(entity_number(word) >= 0 ? "@" : word);
    at = end + 1;
  }
  return text;
}

TEST(Cloze, MakesAQuestionOfEachSentenceThatNamesAnEntityOfThoseBefore) {
  const QuestionText made = cloze_questions(clean_text(article, "text", Unit::words), {});
  ASSERT_EQ(made.size(), 3);
  const auto documents = lines(made.documents), questions = lines(made.questions);
  EXPECT_EQ(without_numbers(documents[0]), "The engineer @ lived in @ .");
  EXPECT_EQ(without_numbers(questions[0]), "The tower was built by @placeholder for the @ .");
  EXPECT_EQ(without_numbers(documents[1]),
            "The engineer @ lived in @ . The tower was built by @ for the @ .");
  EXPECT_EQ(questions[1], "It is in @placeholder .") << "a heading is left out";
  // Of two entities one is asked for.
  const std::string last = without_numbers(questions[2]);
  EXPECT_TRUE(last == "Visitors of @placeholder know @ ." || last == "Visitors of @ know @placeholder .")
      << last;
}

TEST(Cloze, TheAnswerIsTheEntityThatWasBlanked) {
  const QuestionText made = cloze_questions(clean_text(article, "text", Unit::words), {});
  const auto documents = lines(made.documents);
  // "lived in X ." of the document is what "It is in @placeholder ." asks for.
  const std::string& document = documents[1];
  const std::size_t at = document.find("lived in ") + 9;
  EXPECT_EQ(document.substr(at, document.find(' ', at) - at), entity_marker(made.answers[1]));
  for (std::size_t i = 0; i < documents.size(); ++i)
    EXPECT_NE((documents[i] + ' ').find(entity_marker(made.answers[i]) + ' '), std::string::npos) << i;
}

TEST(Cloze, IsTheSameForTheSameTextAndNumbersDiffer) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += article;
  const auto made = [&] { return cloze_questions(clean_text(text, "text", Unit::words), {}); };
  const QuestionText first = made();
  EXPECT_EQ(first.documents, made().documents);
  EXPECT_EQ(first.answers, made().answers);
  EXPECT_GT(std::set<std::int32_t>(first.answers.begin(), first.answers.end()).size(), 20u);
  for (const std::int32_t answer : first.answers) EXPECT_LT(answer, 50);
}

TEST(Cloze, OptionsLimitDocumentsAndEntities) {
  const Text text = clean_text(article, "text", Unit::words);
  for (const std::string& document : lines(cloze_questions(text, {.document_words = 9}).documents))
    EXPECT_LE(std::count(document.begin(), document.end(), ' ') + 1, 9);
  // Three entities are in the second sentence and its document.
  EXPECT_EQ(cloze_questions(text, {.entities = 2}).size(), 0);
}

TEST(Cloze, ReadsTextWhosePunctuationIsAttached) {
  const auto [document, question, names] =
      anonymous("\"We met Ada Lovelace,\" said Babbage. Ada Lovelace's notes (and Babbage's) are famous!",
                "@placeholder wrote to Mary Somerville.", 10, "line 1");
  EXPECT_EQ(document,
            "\" We met @entity0 , \" said @entity1 . @entity0 's notes ( and @entity1 's ) are famous !");
  EXPECT_EQ(question, "@placeholder wrote to @entity2 .");
  EXPECT_EQ(names, (std::vector<std::string>{"Ada Lovelace", "Babbage", "Mary Somerville"}));
}

TEST(Cloze, AQuestionOfAUserWithMarkersKeepsThem) {
  const auto [document, question, names] =
      anonymous("@entity7 met @entity2 .", "who is @placeholder ?", 10, "");
  EXPECT_EQ(document, "@entity7 met @entity2 .");
  EXPECT_EQ(question, "who is @placeholder ?");
  EXPECT_TRUE(names.empty());
}

TEST(Cloze, RefusesWhatCannotBeAnswered) {
  const auto refused = [](const char* document, const char* question) {
    return error_of<InputError>([&] { anonymous(document, question, 2, "line 5"); });
  };
  expect_contains(refused("He met Ada in Rome .", "who ?"), "line 5: the question has no @placeholder");
  expect_contains(refused("nobody here .", "@placeholder ?"), "line 5: the document has no entity");
  expect_contains(refused("He met Ada and Bob in Rome .", "@placeholder ?"), "3 entities");
}

}  // namespace
}  // namespace rondo
