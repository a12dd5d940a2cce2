// ARPA files: back-off n-gram models as text, as SRILM, KenLM and other toolkits write and read them. The
// format is that of SRILM's ngram-format(5):
//
//   \data\                     how many n-grams of each order there are
//   ngram 1=4
//   ngram 2=2
//   \1-grams:                  log10 p, the n-gram, and perhaps log10 of its back-off weight,
//   -99    <s>    -0.30103     with white space between
//   -0.6   </s>
//   -0.6   a      -0.2
//   -1     <unk>
//   \2-grams:
//   -0.2   <s> a
//   -0.5   a </s>
//   \end\                      nothing behind it is read
//
// -99 stands for the logarithm of 0. `<s>` is the begin of a line, only context; `</s>` is its end, Rondo's
// `<eos>` or newline; `<unk>` is `<unk>`. Words stand as they are. Of characters and bytes, a blank is
// `<space>`; other control characters, and bytes that are not UTF-8, are escaped as in vocab.txt (`\t`,
// `\x0c`, `\xe4`); a backslash alone is one. No symbol but `<unk>` has more than one character there, so that
// these names collide with none. Read next: lm/, the program.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "data/ngram_model.h"
#include "data/vocabulary.h"

namespace rondo {

struct Arpa {
  Vocabulary vocabulary;  // in the order of the file's unigrams, without `<s>`
  NgramModel model;
};

/// InputError, "FILE:LINE: what", for what is not in the format: no `\data\`, counts that are not those of the
/// sections, no `\end\`; a log10 p that is no number or above 0, a weight that is no number; an n-gram whose
/// words are not unigrams, or whose context is not among the n-grams of the order below, or that stands there
/// twice, or has `<s>` inside; a unigram that is no symbol of the unit; for words no `</s>`. A weight that is
/// missing is 1, and those of the highest order, which mean nothing, are passed over. A pruned model may lack
/// suffixes of its n-grams. Lines may end in CRLF.
Arpa read_arpa(const std::filesystem::path& path, Tokenization tokenization);

/// Hands over the text of the file piece by piece, numbers with nine digits. `</s>` is always there, with
/// probability 0 if the vocabulary has no end of a line, since other toolkits ask for it. InputError if `<s>`
/// or `</s>` is a word of the vocabulary; Error if the vocabulary is not the model's.
void write_arpa(const NgramModel& model, const Vocabulary& vocabulary,
                const std::function<void(std::string_view)>& write);

}  // namespace rondo
