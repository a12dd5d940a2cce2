// Pairs of lines from the text of one language, from which an encoder-decoder learns without translations.
// Luong, Le, Sutskever, Vinyals & Kaiser 2016, "Multi-task Sequence to Sequence Learning", section 3.4, have
// two such objectives: the auto-encoder, and the skip-thought objective of Kiros et al. 2015, to write the
// next sentence. Where the sentences of a text do not follow each other, they split each one, and one half
// is used to predict the other. Read next: data/sentences/pairs.h, lm/tasks/multi_task.h.
#pragma once

#include <string>
#include <vector>

#include "data/sentences/parallel_text.h"

namespace rondo {

/// What is read, and what is written for it.
enum class PairsOf {
  lines,      // a line, and the same line
  halves,     // the first half of a line's words, and the second half
  next_lines  // a line, and the line after it
};
inline std::vector<std::string> names_of(PairsOf) { return {"lines", "halves", "next_lines"}; }

/// A line of source and of target for each line of a text, in its order. Words are what white space
/// separates, whatever the unit of symbols is; the white space between two halves is in neither, and the
/// middle one of an odd number of words is in the first half. A line gives no pair (TextPair::has_gaps) if it
/// has fewer than two words and so no halves; or if it or the next line is empty, since an empty line, like
/// the end of the text, ends a passage. InputError if no line gives a pair.
TextPair pairs_of_text(const Text& text, PairsOf pairs);

}  // namespace rondo
