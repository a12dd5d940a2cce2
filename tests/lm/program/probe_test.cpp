// `lm probe`, and probes during a training, as users start them.

#include <filesystem>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// The log's lines of probes, or all others.
std::vector<Json> lines_of_log(const fs::path& run, bool of_probes) {
  std::vector<Json> lines;
  for (const Json& line : log_of(run))
    if (line.contains("probed") == of_probes) lines.push_back(line);
  return lines;
}

TEST(Probe, ChangesNothingInATraining) {
  const SmallData data;
  const Words shorter{"--epochs", "3", "train.averaging=always"};
  const Words probed = shorter + Words{"train.probe_every=2"};
  data.trained("plain", shorter);
  data.trained("probed", probed);
  EXPECT_EQ(data.model_digest("probed"), data.model_digest("plain"));
  EXPECT_EQ(lines_of_log(data / "probed", false), lines_of_log(data / "plain", false));

  const std::vector<Json> probes = lines_of_log(data / "probed", true);
  ASSERT_EQ(probes.size(), 2);  // before the training, and after the second epoch
  EXPECT_EQ(probes[0].at("epoch"), 0);
  EXPECT_EQ(probes[0].at("step"), 0);
  EXPECT_EQ(probes[1].at("epoch"), 2);
  EXPECT_EQ(probes[1].at("probed"), "train");
  EXPECT_EQ(probes[1].at("layers").size(), 2);
  const Json& layer = probes[1].at("layers").at(1);
  EXPECT_EQ(layer.at("gradients").at("c").at("log_norm").size(), 11);  // train.length = 10, and h_0
  EXPECT_NE(layer.at("gradients"), probes[0].at("layers").at(1).at("gradients"));
  output_of_lm({"table", data.path("probed")});  // reads the log

  // A resumed training repeats the probes of an uninterrupted one.
  Words first = probed;
  first[1] = "1";
  data.trained("resumed", first);
  output_of_lm({"train", "--out", data.path("resumed"), "--resume", "--epochs", "3"});
  EXPECT_EQ(lines_of_log(data / "resumed", true), probes);
}

TEST(Probe, PrintsATableJsonAndPictures) {
  const SmallData data;
  data.trained("run", {"--epochs", "1", "train.probe_every=1"});
  const std::string run = data.path("run"), pictures = data.path("pictures/of run");
  const Json json = json_of_lm({"probe", run, "--steps", "4", "--sequences", "7", "--svg", pictures});
  const Json& probed = json.at("runs").at(0);
  EXPECT_EQ(probed.at("run"), run);
  EXPECT_EQ(probed.at("probed"), "valid");
  EXPECT_EQ(probed.at("loss"), "the loss of the last step alone");
  EXPECT_EQ(probed.at("sequences"), 7);
  EXPECT_EQ(probed.at("steps"), 4);
  const Json& layer = probed.at("layers").at(0);
  EXPECT_EQ(layer.at("layer"), "rnn.l0");
  EXPECT_EQ(layer.at("gradients").at("h").at("norm").size(), 5);
  EXPECT_EQ(layer.at("products").at("weight_hh_l0").at("norm").size(), 4);
  EXPECT_EQ(layer.at("gates").at("s(f)").at("counts").size(), 40);
  EXPECT_EQ(layer.at("singular_values").at("weight_hh_l0 [0, 32)").size(), 32);
  int64_t counted = 0;
  for (const int64_t count : layer.at("activations").at("h").at("counts")) counted += count;
  EXPECT_EQ(counted, 7 * 4 * 32);
  for (const char* name : {"gradients", "gradients_by_epoch", "activations", "gates"}) {
    const std::string svg = bytes_of_file(pictures + "/" + name + ".svg");
    EXPECT_TRUE(svg.starts_with("<svg ")) << name;
    EXPECT_EQ(svg.find("href"), std::string::npos) << name;
  }
  EXPECT_NE(bytes_of_file(pictures + "/gradients_by_epoch.svg").find("run rnn.l1, t = 5"), std::string::npos);

  // An evaluation of a model that diverged.
  write_bytes(run + "/log.jsonl",
              bytes_of_file(run + "/log.jsonl") +
                  R"({"step":9,"epoch":2,"split":"valid","nats":null,"bits":null,"best":false})"
                  "\n");
  run_lm_well({"probe", run, "--steps", "4", "--svg", pictures});

  const std::string table = output_of_lm({"probe", run, run, "--sequences", "3", "--split", "test"});
  EXPECT_NE(table.find("3 sequences of the test text"), std::string::npos);
  EXPECT_NE(table.find("ln |dC/dc_t|"), std::string::npos);
  EXPECT_NE(table.find("weight_ih_l1"), std::string::npos);
}

TEST(Probe, RefusesInOneLine) {
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  const std::string run = data.path("run");
  expect_refused({"probe"}, "probe: runs is required");
  expect_refused({"probe", data.path("none")}, "none");
  expect_refused({"probe", run, "--steps", "100000"}, "symbols are too few for a sequence of 100000");
  expect_refused({"probe", run, "--svg", data.path("small.toml")}, "small.toml is not a folder");
  fs::create_directories(data / "pictures/gradients.svg");
  const Result drawn = run_lm({"probe", run, "--steps", "4", "--json", "--svg", data.path("pictures")});
  EXPECT_EQ(drawn.status, 2);
  EXPECT_TRUE(Json::accept(drawn.out)) << "printed before it is drawn";
  expect_contains(drawn.err, "pictures/gradients.svg: a folder, a pipe or a device, not a file");
  fs::remove(data / "run/model.safetensors");
  expect_refused({"probe", run}, "holds no model");
}

}  // namespace
}  // namespace rondo
