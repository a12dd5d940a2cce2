// log.jsonl and evaluations.jsonl, as `lm table` and `lm plot` read them; the first byte chooses which.
#include "lm/report/page.h"
#include "tensor/error.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

constexpr const char* config = R"([recipe]
name = "small"
[data]
unit = "bytes"
[model]
hidden = [3]
embedding = 2
[made_by]
version = "0.2.0"
threads = 1
sha256 = ["00  train.txt"]
)";

void run_log(std::string_view lines) {
  static const std::filesystem::path folder = [] {
    std::filesystem::create_directory(scratch("run"));
    scratch("run/config.toml", config);
    scratch("run/vocab.txt", "a\nb\n");
    return scratch("run");
  }();
  const bool is_log = take_choice(lines) % 2 == 0;
  scratch("run/log.jsonl", is_log ? lines : "");
  scratch("run/evaluations.jsonl", is_log ? "" : lines);
  const auto run = std::make_shared<const RunRecord>(read_run(folder));
  demand(grouped({run, run}).size() <= 2, "more groups than runs");
  for (size_t kind = 0; kind < kinds_of_measurement.size(); ++kind)
    mean_score({run, run}, kind, "perplexity");
  curves_of({run});
}

}  // namespace

Target log() {
  const std::string figures = R"("nats":2.5,"bits":3.6,"perplexity":12.1,"symbols":27)";
  const std::string step = R"({"step":1,"epoch":1,"nats":2.5,"learning_rate":0.01,"symbols_per_second":9.5})";
  const std::string valid = R"({"step":2,"epoch":1,"split":"valid",)" + figures +
                            R"(,"read":"one stream","best":true,"training_seconds":0.5})";
  const std::string test = R"({"split":"test",)" + figures + R"(,"read":"one stream"})";
  const std::string kept = R"({"split":"test","read":"one stream",)" + figures +
                           R"(,"precision":"fp32","types":2,"vocabulary_size":2,"parameters":9,)" +
                           R"("cache":{"window":2,"theta":1.0,"lambda":0.1},)" +
                           R"("model":"00","sha256":["00  train.txt"]})";
  const std::string log = step + "\n" + valid + "\n" + test + "\n";
  return {"log",
          run_log,
          {std::string(1, '\0') + log, "\1" + kept + "\n"},
          {std::string(1, '\0') + std::string(200'000, '[') + "\n", "\1" + std::string(200'000, '{') + "\n"}};
}

}  // namespace rondo::fuzz
