// Encoder-decoders of several tasks that share their parts.
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {

SharedEncoderDecoders::SharedEncoderDecoders(const EncoderDecoderOptions& options,
                                             const std::map<std::string, int64_t>& vocabularies,
                                             const std::vector<Route>& routes, uint64_t seed, Device device)
    : routes_(routes) {
  check_options(options);
  check_input(options.tied != TiedTables::all,
              "model.tied = \"all\" is for one encoder-decoder; here set \"output\": each language has its "
              "own tables");
  for (const Route& route : routes) {
    Encoder* encoder = nullptr;
    if (!route.source.empty()) {
      std::unique_ptr<Encoder>& of_source = encoders_[route.source];
      if (!of_source)
        of_source = std::make_unique<Encoder>(*this, route.source, options, vocabularies.at(route.source));
      encoder = of_source.get();
    }
    std::unique_ptr<Decoder>& decoder = decoders_[route.target];
    if (!decoder)
      decoder = std::make_unique<Decoder>(*this, route.target, options, vocabularies.at(route.target));
    models_.push_back(std::make_unique<EncoderDecoder>(*this, options, encoder, *decoder));
  }
  finalize(seed, options.init_all, device);
}

}  // namespace rondo
