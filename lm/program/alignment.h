// What a translator attended to: for `lm translate --attention`, as JSON or as a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rondo {

/// The attention of a translation: weights[t][s] when target symbol t was written, of source symbol s.
struct Alignment {
  std::vector<std::string> source, target;  // symbols, with the end of the line
  std::vector<std::vector<float>> weights;
};

/// {"source": [...], "target": [...], "weights": [[...], ...]}.
nlohmann::ordered_json json_of(const Alignment& alignment);

/// The other way round. InputErrors for a list of weights that does not fit the symbols, and exceptions of
/// nlohmann::json for what is not such an object.
Alignment alignment_of(const nlohmann::json& json);

/// A picture of alignments, one below the other, as an SVG document: rows are target symbols, columns source
/// symbols, and the darker a square, the larger the weight. As in Bahdanau, Cho & Bengio 2015, figure 3.
std::string svg_of(const std::vector<Alignment>& alignments);

}  // namespace rondo
