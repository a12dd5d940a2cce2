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
  std::map<std::string, std::shared_ptr<Encoder>> encoders;
  std::map<std::string, std::shared_ptr<Decoder>> decoders;
  for (const Route& route : routes) {
    std::shared_ptr<Encoder>& encoder = encoders[route.source];
    if (!encoder && !route.source.empty())
      encoder = std::make_shared<Encoder>(*this, route.source, options, vocabularies.at(route.source));
    std::shared_ptr<Decoder>& decoder = decoders[route.target];
    if (!decoder)
      decoder = std::make_shared<Decoder>(*this, route.target, options, vocabularies.at(route.target));
    models_.push_back(std::make_unique<EncoderDecoder>(*this, options, encoder, decoder));
  }
  finalize(seed, options.init_all, device);
}

}  // namespace rondo
