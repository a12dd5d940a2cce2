// Cloze questions made from running text: a stand-in for corpora of news with summaries. A sentence of an
// article is the question, the sentences before it are the document, and an entity that occurs in both is
// replaced by a placeholder. Entities are found by their capital letters: runs of capitalised words that
// also occur in the middle of a sentence of the article. Read next: data/sentences/questions.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentences/questions.h"

namespace rondo {

/// One question for each sentence that has an entity of its document, if the document has two or more. The
/// entity that is asked for and the numbers of all entities are random, but the same for the same text. An
/// article begins at a heading of the first level, " = Title = ", as WikiText has them; other headings are
/// left out. `text` is words separated by white space; punctuation may be attached to them.
QuestionText cloze_questions(const Text& text, const QuestionOptions& options);

/// A document and a question whose entities got markers, and their names by number; "" for a number that no
/// entity has.
struct AnonymousQuestion {
  std::string document, question;
  std::vector<std::string> names;
};
/// Of a user's question, in which `@placeholder` stands for what is asked. A document that has markers
/// already keeps them, and has no names. InputError, beginning with `where`, if there are no entities, more
/// than `entities`, or no `@placeholder`.
AnonymousQuestion anonymous(std::string_view document, std::string_view question, std::int64_t entities,
                            const std::string& where);

}  // namespace rondo
