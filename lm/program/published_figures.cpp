// The keys of section [published].
#include "lm/program/published_figures.h"

namespace rondo {

Keys keys_of(PublishedFigures& it) {
  return {
      {"valid", &it.trained.valid, at_least(0), "", "the paper's figure on valid.txt; 0: none"},
      {"test", &it.trained.test, at_least(0), "", "the paper's figure on test.txt; 0: none"},
      {"unit", choice(it.unit), {}, "", "the unit of the published figures; bits and nats are per symbol"},
      {"finetuned_valid", &it.finetuned.valid, at_least(0), "",
       "the same as published.valid, of the model that `lm finetune` makes"},
      {"finetuned_test", &it.finetuned.test, at_least(0), "", "the same on test.txt"},
      {"dynamic_valid", &it.dynamic.valid, at_least(0), "",
       "the same as published.valid, with dynamic evaluation of the paper's best model"},
      {"dynamic_test", &it.dynamic.test, at_least(0), "", "the same on test.txt"},
      {"cache_valid", &it.cache.valid, at_least(0), "",
       "the same as published.valid, with a neural cache over the paper's best model"},
      {"cache_test", &it.cache.test, at_least(0), "", "the same on test.txt"},
      {"vocabulary", &it.vocabulary, at_least(0), "symbols",
       "number of types in the paper's text; for a text with another number, no published figure "
       "is shown; 0: not known"},
      {"test_symbols", &it.test_symbols, at_least(0), "symbols",
       "the same, for the length of the paper's test text"},
  };
}

}  // namespace rondo
