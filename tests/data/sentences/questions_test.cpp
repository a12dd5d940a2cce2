// Cloze questions: the format of the CNN corpus, their vocabulary and ids, and their batches.
#include "data/sentences/questions.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/temporary_folder.h"

namespace rondo {
namespace {

std::string file_of(const std::string& document, const std::string& question, const std::string& answer) {
  return "http://somewhere\n\n" + document + "\n\n" + question + "\n\n" + answer +
         "\n\n@entity0:Ada\n@entity1:Rome\n";
}

TEST(Questions, MarkersAreNumbers) {
  EXPECT_EQ(entity_marker(12), "@entity12");
  EXPECT_EQ(entity_number("@entity9999"), 9999);
  for (const char* other :
       {"@entity", "entity1", "@entity1x", "@entity-1", "@placeholder", "@entity10000", "@entity99999999999"})
    EXPECT_EQ(entity_number(other), -1) << other;
}

TEST(Questions, AreReadInTheFormatOfTheCnnCorpus) {
  const TemporaryFolder folder;
  folder.write("training/b.question", file_of("@entity1 is old .", "old is @placeholder", "@entity1"));
  folder.write("training/a.question", file_of("@entity0 met @entity3 .", "who ? @placeholder", "@entity3"));
  folder.write("training/notes.txt", "no question");
  folder.write("validation/c.question", file_of("@entity0 .", "@placeholder", "@entity0"));
  const QuestionTexts texts = open_questions(folder / "", {});
  EXPECT_EQ(texts.train.documents, "@entity0 met @entity3 .\n@entity1 is old .\n");
  EXPECT_EQ(texts.train.questions, "who ? @placeholder\nold is @placeholder\n");
  EXPECT_EQ(texts.train.answers, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(texts.files.size(), 2u);
  EXPECT_EQ(texts.at(Split::valid).size(), 1);
  EXPECT_THROW(texts.at(Split::test), InputError);
}

TEST(Questions, KeepTheSentencesThatMatchTheQuestionBest) {
  // Scores: 2 * 2 / (3 + 3), 0, 2 * 1 / (3 + 2), 2 * 2 / (3 + 4), 2 * 1 / (3 + 4).
  const auto read = [](std::string document, std::string question, const QuestionOptions& options) {
    prepare(document, question, options);
    return document + " | " + question;
  };
  const std::string document = "ada met . in 1815 it rained . met . ada met bob . then ada left .";
  const std::string question = "ada met @placeholder";
  EXPECT_EQ(read(document, question, {}), document + " | " + question) << "all of it by default";
  EXPECT_EQ(read(document, question, {.sentences = 1}), "ada met . | " + question);
  EXPECT_EQ(read(document, question, {.sentences = 2}), "ada met . ada met bob . | " + question);
  EXPECT_EQ(read(document, question, {.sentences = 3}), "ada met . met . ada met bob . | " + question);
  EXPECT_EQ(read(document, question, {.sentences = 9}), document + " | " + question);
  EXPECT_EQ(read("he left . she left . no end", "left @placeholder", {.sentences = 1}),
            "he left . | left @placeholder")
      << "the first one of equal ones";
  EXPECT_EQ(read("no end", question, {.sentences = 4}), "no end | " + question);
}

TEST(Questions, MergeNumbersOnRequest) {
  std::string document = "1,200 men and 3.5 tons on the 1st of may 2015 .",
              question = "@placeholder had 7 of b52s";
  prepare(document, question, {.merge_numbers = true});
  EXPECT_EQ(document, "NUM men and NUM tons on the 1st of may NUM .");
  EXPECT_EQ(question, "@placeholder had NUM of b52s");
}

TEST(Questions, ArePreparedInEverySplit) {
  const TemporaryFolder folder;
  for (const std::string split : {"training", "validation", "test"})
    folder.write(split + "/a.question", file_of("it rained . @entity0 met @entity1 7 times .",
                                                "@placeholder met 3 @entity1", "@entity0"));
  const QuestionTexts texts = open_questions(folder / "", {.sentences = 1, .merge_numbers = true});
  for (const QuestionText* it : {&texts.train, &texts.valid, &*texts.test}) {
    EXPECT_EQ(it->documents, "@entity0 met @entity1 NUM times .\n");
    EXPECT_EQ(it->questions, "@placeholder met NUM @entity1\n");
  }
}

TEST(Questions, WhatIsNoQuestionIsRefusedByName) {
  const auto refused = [](const std::string& content) {
    return error_of<InputError>([&] {
      QuestionText text;
      add_question_file(text, content, "x.question");
    });
  };
  expect_contains(refused(file_of("@entity0 .", "who", "@entity0")),
                  "x.question: the question has no @placeholder");
  expect_contains(refused(file_of("@entity0 .", "a@placeholder b", "@entity0")), "no @placeholder");
  expect_contains(refused(file_of("@entity0 .", "@placeholder", "Ada")), "the answer 'Ada' is no entity");
  expect_contains(refused("only this\n"), "x.question: not a question of the CNN corpus");
  expect_contains(refused("a\n\nb\n\n\xff\n\n@entity0\n"), "not UTF-8");

  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "training");
  expect_contains(error_of<InputError>([&] { open_questions(folder / "", {}); }), "no files NAME.question");
  folder.write("training/a.question", file_of("@entity0 .", "@placeholder", "@entity0"));
  expect_contains(error_of<InputError>([&] { open_questions(folder / "", {}); }),
                  "validation: no such folder: the questions of ");

  // One of many is left out.
  folder.write("validation/a.question", "only this\n");
  expect_contains(error_of<InputError>([&] { open_questions(folder / "", {}); }),
                  "validation/a.question: not a question of the CNN corpus");
  folder.write("validation/b.question", file_of("@entity0 .", "@placeholder", "@entity0"));
  const QuestionTexts texts = open_questions(folder / "", {});
  EXPECT_EQ(texts.valid.size(), 1);
  expect_contains(texts.valid.left_out, "1 of 2 questions are left out: ");
  EXPECT_EQ(texts.notes, std::vector<std::string>{texts.valid.left_out});
}

TEST(Questions, SayWhichDocumentsLoseTheirEnd) {
  const TemporaryFolder folder;
  folder.write("training/1.question", file_of("@entity0 met @entity1 .", "@placeholder", "@entity1"));
  folder.write("training/2.question", file_of("@entity0 met @entity1 .", "@placeholder", "@entity0"));
  folder.write("validation/1.question", file_of("@entity1 .", "@placeholder", "@entity1"));
  const std::vector<std::string> notes = open_questions(folder / "", {.document_words = 2}).notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_contains(notes[0],
                  "training: 2 of 2 documents have more than data.document_words = 2 words and lose "
                  "their end; 1 do not name the answer in what is read of them");
}

TEST(Questions, KeepAnswersThatTheReadSentencesDoNotName) {
  const TemporaryFolder folder;
  for (const std::string split : {"training", "validation"})
    folder.write(split + "/1.question",
                 file_of("@entity7 has left . 9 men .", "@placeholder has 8", "@entity7"));
  const QuestionTexts texts = open_questions(folder / "", {.sentences = 1, .merge_numbers = true});
  EXPECT_EQ(texts.train.documents, "NUM men .\n") << "numbers are merged before sentences are compared";
  ASSERT_EQ(texts.notes.size(), 2u);
  expect_contains(texts.notes[0], "1 do not name the answer in what is read of them");
  const Vocabulary vocabulary(text_for_vocabulary(texts.train, 1), {.unit = Unit::words}, {});
  EXPECT_EQ(encode_questions(texts.train, vocabulary, 9).answers, std::vector<std::int32_t>{7});
}

// The same questions as the first version of the script made, which was a part of this library.
TEST(Questions, AreMadeOfATextByAScript) {
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  for (const std::string split : {"train", "valid"})
    folder.write(
        split + ".txt",
        " = Paris = \nThe engineer Gustave Eiffel lived in Paris . The tower was built by Gustave Eiffel "
        "for the Fair .\n = = Later = = \nIt is in \"Paris.\" Visitors of Paris know Gustave Eiffel .\n"
        " = Rome = \nRome is old . Nobody knows why .\n");
  const std::string command = "python3 " RONDO_SOURCE_DIR "/docs/cloze.py ";
  ASSERT_EQ(std::system((command + folder.path().string() + " " + (folder / "made").string()).c_str()), 0);
  const QuestionTexts made = open_questions(folder / "made", {});
  EXPECT_EQ(
      made.train.documents,
      "The engineer @entity25 lived in @entity1 .\n"
      "The engineer @entity28 lived in @entity7 . The tower was built by @entity28 for the @entity16 .\n"
      "The engineer @entity8 lived in @entity1 . The tower was built by @entity8 for the @entity27 . "
      "It is in \" @entity1 .\n");
  EXPECT_EQ(made.train.questions,
            "The tower was built by @placeholder for the @entity15 .\nIt is in \" @placeholder .\n"
            "\" Visitors of @placeholder know @entity8 .\n");
  EXPECT_EQ(made.train.answers, (std::vector<std::int32_t>{25, 7, 1}));
  EXPECT_EQ(made.valid.answers, made.train.answers);
  EXPECT_FALSE(made.test);
}

/// Two questions about four entities.
QuestionText some_text() {
  QuestionText text;
  text.add("@entity0 met @entity3 in rome", "@placeholder met @entity3", "@entity0", "");
  text.add("@entity1 saw @entity2 and @entity1", "who saw @entity2 ? @placeholder", "@entity1", "");
  return text;
}
Vocabulary vocabulary_of(const QuestionText& text, const VocabularyLimits& limits = {}) {
  return Vocabulary(text_for_vocabulary(text, limits.min_count), {.unit = Unit::words}, limits);
}

TEST(Questions, EveryMarkerHasARow) {
  const Vocabulary vocabulary = vocabulary_of(some_text(), {.min_count = 3});
  EXPECT_EQ(markers_of(vocabulary).size(), 4u);
  EXPECT_FALSE(vocabulary.id("rome").has_value());
  check_has_all_markers(vocabulary, some_text());
  expect_contains(error_of<InputError>([] {
                    check_has_all_markers(vocabulary_of(some_text(), {.max_size = 5}), some_text());
                  }),
                  "of 4 markers of entities in the vocabulary: make it larger");
}

TEST(Questions, AreIdsAndDocumentsAreCut) {
  const Vocabulary vocabulary = vocabulary_of(some_text());
  const Questions all = encode_questions(some_text(), vocabulary, 3);
  ASSERT_EQ(all.size(), 2);
  const auto words = [&](std::span<const std::int32_t> ids) { return vocabulary.decode(ids); };
  EXPECT_EQ(words(all.documents[0]), "@entity0 met @entity3\n");
  EXPECT_EQ(words(all.questions[1]), "who saw @entity2 ? @placeholder\n");
  EXPECT_EQ(words(encode_questions(some_text(), vocabulary, 1000).documents[0]),
            "@entity0 met @entity3 in rome\n");
  EXPECT_EQ(all.answers, (std::vector<std::int32_t>{0, 1}));
  for (std::size_t i = 0; i < all.markers.size(); ++i)
    EXPECT_EQ(all.entity_of[static_cast<std::size_t>(all.markers[i])], static_cast<std::int32_t>(i));
  QuestionText other = some_text();
  other.add("@entity9 .", "@placeholder", "@entity9", "");
  EXPECT_EQ(encode_questions(other, vocabulary, 1000).answers.back(), -1) << "no row for @entity9";
}

/// A batch of both questions as text, with its answers: "document | question | answer".
std::vector<std::string> told(const QuestionBatch& batch, const Vocabulary& vocabulary) {
  std::vector<std::string> all(2);
  for (std::size_t b = 0; b < 2; ++b) {
    std::string& text = all[static_cast<std::size_t>(batch.indices[b])];
    for (const PaddedSentences* side : {&batch.documents, &batch.questions}) {
      std::vector<std::int32_t> ids;
      for (std::int64_t t = 0; t + 1 < side->lengths[b]; ++t)
        ids.push_back(side->ids[static_cast<std::size_t>(t) * 2 + b]);
      text += vocabulary.decode(ids) + " | ";
    }
    text += entity_marker(batch.answers[b]);
  }
  return all;
}

TEST(QuestionBatches, GiveEntitiesOtherMarkersInEachEpoch) {
  const Vocabulary vocabulary = vocabulary_of(some_text());
  const Questions questions = encode_questions(some_text(), vocabulary, 1000);
  QuestionBatches batches({.batch = 2}, questions, 7);
  const auto epoch = [&](std::int64_t number) {
    batches.seek(number, 0);
    QuestionBatch batch;
    EXPECT_TRUE(batches.next(batch));
    const auto text = told(batch, vocabulary);
    EXPECT_FALSE(batches.next(batch));
    return text;
  };
  const std::vector<std::string> plain = {
      "@entity0 met @entity3 in rome | @placeholder met @entity3 | @entity0",
      "@entity1 saw @entity2 and @entity1 | who saw @entity2 ? @placeholder | "
      "@entity1"};
  EXPECT_EQ(epoch(0), plain) << "an evaluation";
  std::set<std::string> firsts;
  for (std::int64_t i = 1; i <= 12; ++i) {
    const std::string text = epoch(i)[0];
    EXPECT_EQ(text, epoch(i)[0]) << "the same each time";
    firsts.insert(text);
    // Consistent: the answer is the first word, and the second entity is the same in both texts.
    EXPECT_EQ(text.substr(0, text.find(' ')), text.substr(text.rfind(' ') + 1));
    const std::string second = text.substr(text.find("met ") + 4, 8);
    EXPECT_EQ(text.substr(text.rfind("met ") + 4, 8), second);
    EXPECT_NE(second, text.substr(0, 8));
  }
  EXPECT_GT(firsts.size(), 4u);
  QuestionBatches kept({.batch = 2, .renumber = false}, questions, 7);
  QuestionBatch batch;
  ASSERT_TRUE(kept.next(batch));
  EXPECT_EQ(told(batch, vocabulary), plain);
}

}  // namespace
}  // namespace rondo
