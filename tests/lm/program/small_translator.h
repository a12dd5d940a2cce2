// A small text to translate, and a translator that is trained on it with the program.
#pragma once

#include "data/sentences/pairs.h"
#include "tests/lm/program/program.h"

namespace rondo {

inline void write_pairs(const fs::path& folder, const std::string& name, const TextPair& pairs) {
  write_bytes(folder / (name + ".aa"), pairs.source.content);
  write_bytes(folder / (name + ".bb"), pairs.target.content);
}

/// A small parallel text, and the words of a training on it that takes about a second.
class SmallTranslator {
 public:
  SmallTranslator() {
    write_pairs(folder(), "train", reversal_task(1, 400, {.letters = 6, .max_length = 6}));
    write_pairs(folder(), "valid", reversal_task(2, 30, {.letters = 6, .max_length = 6}));
    write_pairs(folder(), "test", reversal_task(3, 30, {.letters = 6, .max_length = 6}));
  }

  fs::path folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder_ / name; }

  Words train(const std::string& run, const Words& settings = {}) const {
    return Words{"train",
                 "--recipe",
                 "attention-multi30k",
                 "--data",
                 path(""),
                 "--out",
                 path(run),
                 "--threads",
                 "1",
                 "--epochs",
                 "2",
                 "data.source_language=aa",
                 "data.target_language=bb",
                 "data.train_files=train",
                 "data.valid_files=valid",
                 "data.test_files=test",
                 "model.embedding=12",
                 "model.hidden=16",
                 "model.readout=12",
                 "train.batch=20",
                 "decoding.max_length=12"} +
           settings;
  }
  void trained(const std::string& run, const Words& settings = {}) const {
    output_of_lm(train(run, settings));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace rondo
