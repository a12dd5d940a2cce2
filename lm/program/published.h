// The figures that a paper reports for a recipe's model: the recipe's section [published], and where they are
// shown beside measured figures.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tensor/keys.h"

namespace rondo {

struct Recipe;

enum class PublishedUnit { perplexity, bits, nats };  // bits and nats are per symbol
inline std::vector<std::string> names_of(PublishedUnit) { return {"perplexity", "bits", "nats"}; }

/// 0 where the paper has no figure.
struct PublishedFigures {
  struct Splits {
    double valid = 0, test = 0;
  };
  Splits trained{}, finetuned{}, dynamic{}, cache{};
  PublishedUnit unit = PublishedUnit::perplexity;
  std::int64_t vocabulary = 0, test_symbols = 0;  // of the paper's text; 0: not known
};
Keys keys_of(PublishedFigures& published);

/// The paper's figure on a split, "valid" or "test", for a model that is finetuned or not and adapts to the
/// text or not; 0: none. Figures with adaptation are those of the finetuned model if the paper has one. (In
/// the recipe of a finetuned run, the finetuned figures replace those of the trained model.)
double published_figure(const PublishedFigures& published, bool finetuned, const std::string& split,
                        bool dynamic, bool cache);
/// Whether a text with `types` types and this number of scored test symbols can be the paper's.
bool may_be_the_papers(const PublishedFigures& published, std::int64_t types,
                       std::optional<std::int64_t> test_symbols_scored);
/// The keys of model, training and text that differ from those of the built-in recipe of this name; none if
/// there is no such recipe. Keys that leave the trained model as it is do not count, such as the seed; of a
/// finetuning, what it decides itself does not. With a change, published figures are not those of this run.
std::vector<std::string> changed_keys(const Recipe& recipe, bool finetuned);

/// {"valid", "test", "unit"}, null where the paper has no figure; and, if the paper has them, "finetuned",
/// "dynamic" and "cache", each {"valid", "test"}.
nlohmann::ordered_json published_json(const PublishedFigures& published);

/// "perplexity: valid 60.7, test 58.8; finetuned 60, 57.3", or an empty string.
std::string published_text(const PublishedFigures& published);

}  // namespace rondo
