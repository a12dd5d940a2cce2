// chrF, compared with sacreBLEU's: lm/evaluation/metrics.h.
#include <gtest/gtest.h>

#include "data/files/lines.h"
#include "lm/evaluation/metrics.h"
#include "tests/golden/translation_golden.h"

namespace rondo {
namespace {

using Json = nlohmann::json;

ChrfStatistics counts_of_sentence(const Json& corpus, std::size_t i, bool lower) {
  const Strings references = corpus.at("references").at(i);
  const std::vector<std::string_view> views(references.begin(), references.end());
  return chrf_statistics(corpus.at("hypotheses").at(i).get<std::string>(), views, lower);
}

TEST(Chrf, IsThatOfSacrebleu) {
  for (const auto& [name, corpus] : translation_golden().at("corpora").items())
    for (const Json& expected : corpus.at("chrf")) {
      const bool lower = expected.value("lowercase", false);
      ChrfStatistics total;
      for (std::size_t i = 0; i < corpus.at("hypotheses").size(); ++i)
        total += counts_of_sentence(corpus, i, lower);
      const double score = chrf(total);
      EXPECT_NEAR(score, expected.at("score").get<double>(), 1e-9) << name << expected;
      EXPECT_EQ(fmt::format("{}|{} = {:.2f}", chrf_name,
                            chrf_signature(lower, corpus.at("references").at(0).size(), "x"), score),
                with_version(expected.at("line"), "x"));
    }
}

TEST(Chrf, RefusesWhatItCannotCount) {
  const std::vector<std::string_view> none, bad = {"a\xff"};
  expect_contains(error_of([&] { chrf_statistics("a", none); }), "without a reference");
  expect_contains(error_of<NotUtf8>([&] { chrf_statistics("a", bad); }), "not UTF-8 at byte 1: 0xff");
  EXPECT_EQ(chrf({}), 0) << "a corpus without sentences";
}

}  // namespace
}  // namespace rondo
