// ARPA files: back-off n-gram models as text, as SRILM, KenLM and other toolkits write and read them. The
// format is that of SRILM's ngram-format(5):
//
//   \data\                     the number of n-grams of each order
//   ngram 1=4
//   ngram 2=2
//   \1-grams:                  log10 p, the n-gram, optionally log10 of its back-off weight,
//   -99    <s>    -0.30103     with spaces or tabs between
//   -0.6   </s>
//   -0.6   a      -0.2
//   -1     <unk>
//   \2-grams:
//   -0.2   <s> a
//   -0.5   a </s>
//   \end\                      the rest is not read
//
// -99 and -inf stand for the logarithm of 0. `<s>` is the start of a line, used only as context; `</s>` is
// its end, Rondo's `<eos>` or newline; `<unk>` is `<unk>`, and so is `<UNK>` if the file has no `<unk>`.
// Words are written as they are. Among characters and bytes, a blank is `<space>`; control characters, and
// bytes that are not UTF-8, are escaped as in vocab.txt (`\t`,
// `\x0c`, `\xe4`); a single backslash is itself. There no other symbol has more than one character, so that
// these names are unambiguous. A file that is read may be packed: MODEL.arpa.gz. Read next: lm/, the program.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "data/ngram/ngram_model.h"
#include "data/text/vocabulary.h"

namespace rondo {

struct Arpa {
  Vocabulary vocabulary;  // in the order of the file's unigrams, without `<s>`
  NgramModel model;
  /// The file has no `<unk>`, as SRILM's files by default. Then it is the last symbol, of probability 0, and
  /// nothing of what precedes it is context of what follows. Who measures a text leaves it out.
  bool is_closed = false;
};

/// Reads a file. A missing weight is 1; weights of the highest order, which mean nothing, are ignored. A
/// pruned model may lack suffixes of its n-grams. InputErrors of read_text(); InputError, "FILE:LINE: what",
/// if the file is not in the format: no `\data\`, counts that differ from those of the sections, no `\end\`;
/// a log10 p that is not a number or is above 0, a weight that is not a number; an n-gram whose words are not
/// unigrams, whose context is not an n-gram of the order below, that occurs twice, or that has `<s>` after
/// its first word; a unigram that is not a symbol of the unit; for words, no `</s>`.
Arpa read_arpa(const std::filesystem::path& path, Tokenization tokenization);

/// Passes the text of the file to `write` piece by piece, with numbers of nine digits. `</s>` is always
/// written, with probability 0 if the vocabulary has no end of a line, because other toolkits require it.
/// Throws InputError if `<s>` or `</s>` is a word of the vocabulary; Error if the vocabulary is not the
/// model's.
void write_arpa(const NgramModel& model, const Vocabulary& vocabulary,
                const std::function<void(std::string_view)>& write);

}  // namespace rondo
