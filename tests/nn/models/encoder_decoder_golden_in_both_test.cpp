// Encoder-decoders against numbers that PyTorch computed (tests/golden/make_encoder_decoder_file().py): the
// loss of each symbol, the attention and the gradients of all parameters.
#include "nn/models/encoder_decoder.h"
#include "tests/golden/models.h"
#include "tests/nn/settings.h"

namespace rondo::encoder_decoder_golden_test {
namespace {

constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-12;

struct Case {
  std::string name;
  Score attention;
  bool input_feeding = false;
  TiedTables tied = TiedTables::none;
};

const Golden& file() { return Golden::file("encoder_decoder"); }

SentenceInput sentences(const std::string& name, const Lengths& lengths = {}) {
  const std::vector<int64_t> shape = file().shape(name);
  return {tokens_of(file(), name), shape[0], shape[1], lengths};
}

void expect_equal(const Tensor& actual, const std::string& name) {
  expect_golden(actual.to_vector(), file(), name, tolerance);
}

class EncoderDecoderGolden : public testing::TestWithParam<Case> {};

TEST_P(EncoderDecoderGolden, LossAttentionAndGradients) {
  const Case& it = GetParam();
  const std::string prefix = it.name + ".";
  EncoderDecoderOptions options;
  set(options, "embedding=3 hidden=4 encoder_layers=2 decoder_layers=2");
  options.attention = it.attention;
  options.input_feeding = it.input_feeding;
  options.tied = it.tied;
  options.readout = it.tied == TiedTables::none ? 5 : 3;
  EncoderDecoder model(options, 7, 7);
  set_golden(model, file(), prefix);

  const std::vector<double> lengths = file().values(prefix + "source_lengths");
  const auto source = model.encode(sentences(prefix + "source", {lengths.begin(), lengths.end()}));
  const auto output = model.decode(sentences(prefix + "inputs"), source);
  const CrossEntropy loss = model.cross_entropy(output.readout, tokens_of(file(), prefix + "targets"),
                                                file().setting(prefix + "smoothing"));
  expect_equal(loss.each, prefix + "nats");
  expect_equal(loss.total.value(), prefix + "loss");
  if (it.attention != Score::none) expect_equal(output.attention.value(), prefix + "attention");
  loss.total.backward();
  expect_golden_gradients(model, file(), prefix, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Cases, EncoderDecoderGolden,
                         testing::Values(Case{"none", Score::none}, Case{"dot", Score::dot},
                                         Case{"general", Score::general}, Case{"additive", Score::additive},
                                         Case{"fed", Score::additive, true},
                                         Case{"tied", Score::general, false, TiedTables::output}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace rondo::encoder_decoder_golden_test
