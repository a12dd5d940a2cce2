// A small text to translate, and a translator that is trained on it with the program.
#pragma once

#include "data/sentences/pairs.h"
#include "tests/lm/program/program.h"

namespace rondo {

/// Lines of letters, of `aa`, and their reversals, of `bb`; a recipe of a translator with further settings.
class Reversals : public ToyTraining {
 public:
  Reversals(const std::string& settings, int64_t train_lines, int64_t other_lines)
      : ToyTraining(R"(
[recipe]
task = "translation"
[data]
source_language = "aa"
target_language = "bb"
train_files = "train"
valid_files = "valid"
test_files = "test"
)" + settings) {
    write_pairs("train", reversal_task(1, train_lines, {.letters = 6, .max_length = 6}));
    write_pairs("valid", reversal_task(2, other_lines, {.letters = 6, .max_length = 6}));
    write_pairs("test", reversal_task(3, other_lines, {.letters = 6, .max_length = 6}));
  }
  void write_pairs(const std::string& name, const TextPair& pairs) const {
    write("data/" + name + ".aa", pairs.source.content);
    write("data/" + name + ".bb", pairs.target.content);
  }
};

/// Settings like those of attention-multi30k, in small, the first of them of [data]; the training takes about
/// a second.
struct SmallTranslator : Reversals {
  SmallTranslator()
      : Reversals(R"(
min_count = 2
[model]
embedding = 12
embedding_init = "normal"
embedding_range = 0.3
hidden = 16
attention = "general"
readout = 12
tied = "output"
dropout = 0.4
forget_bias = 1.0
[train]
epochs = 2
batch = 20
optimizer = "adam"
learning_rate = 0.001
clip = 1.0
schedule = "decay_after"
decay_after = 7
decay = 0.6
label_smoothing = 0.1
decides = "bleu"
bleu_tokenization = "none"
[decoding]
beam = 5
length_penalty = 1.0
max_length = 12
)",
                  400, 30) {}
};

}  // namespace rondo
