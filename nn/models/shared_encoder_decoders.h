// Encoder-decoders of several tasks that share their parts: one encoder of each language that is read, one
// decoder of each language that is written. Luong, Le, Sutskever, Vinyals & Kaiser 2016, "Multi-task Sequence
// to Sequence Learning", section 3:
//
//   one-to-many    de -> en, de -> de              share the encoder of de
//   many-to-one    de -> en, en -> en, nothing -> en   share the decoder of en
//   many-to-many   de -> en, de -> de, en -> en    share both
//
// What is shared follows from the languages. A bridge and an attention belong to the decoder. The names of
// parameters begin with the language: de.source_embedding.weight, de.encoder.weight_ih_l0,
// en.target_embedding.weight, en.decoder.weight_ih_l0, en.W_c. Next: lm/tasks/multi_task.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/models/encoder_decoder.h"

namespace rondo {

/// From which language to which. Without a source it is a language model: EncoderDecoder without an encoder.
struct Route {
  std::string source, target;
};

class SharedEncoderDecoders : public Module {
 public:
  /// `vocabularies` has the number of symbols of each language. InputErrors of check_options(), and for
  /// tables that all are to be one.
  SharedEncoderDecoders(const EncoderDecoderOptions& options,
                        const std::map<std::string, int64_t>& vocabularies, const std::vector<Route>& routes,
                        uint64_t seed = 1, Device device = Device::cpu);

  const std::vector<Route>& routes() const { return routes_; }
  /// Returns the model of route `index`.
  EncoderDecoder& at(size_t index) { return *models_.at(index); }
  const EncoderDecoder& at(size_t index) const { return *models_.at(index); }

 private:
  std::vector<Route> routes_;
  std::vector<std::unique_ptr<EncoderDecoder>> models_;
};

}  // namespace rondo
