// TensorBoard's event files, decoded by a few lines that share nothing with those that encode them, beside
// log.jsonl. By TensorBoard's own reader: tensorboard_reader.py.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "lm/program/log.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Bit by bit, from the polynomial in RFC 3720.
std::uint32_t slow_crc32c(const std::string& bytes) {
  std::uint32_t rest = 0xffffffffu;
  for (const unsigned char byte : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool differs = ((rest ^ static_cast<std::uint32_t>(byte >> bit)) & 1) != 0;
      rest >>= 1;
      if (differs) rest ^= 0x82f63b78u;
    }
  return ~rest;
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

/// The contents of the records of a file, whose checksums are right.
std::vector<std::string> records_of(const fs::path& file) {
  const std::string bytes = bytes_of_file(file);
  const auto masked = [](const std::string& of) {
    const std::uint32_t crc = slow_crc32c(of);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  };
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = number_at<std::uint64_t>(bytes, at);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 8), masked(bytes.substr(at, 8)));
    records.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 12 + size), masked(records.back()));
    at += 16 + size;
  }
  return records;
}

/// A message as its fields: numbers as they stand there, texts and messages as bytes.
std::vector<std::pair<int, std::string>> fields_of(const std::string& message) {
  std::vector<std::pair<int, std::string>> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.size()) {
    const std::uint64_t key = varint();
    std::size_t size = key % 8 == 1 ? 8 : key % 8 == 5 ? 4 : 0;
    if (key % 8 == 0) {
      const std::uint64_t value = varint();
      fields.emplace_back(key / 8, std::string(reinterpret_cast<const char*>(&value), 8));
      continue;
    }
    if (key % 8 == 2) size = varint();
    fields.emplace_back(key / 8, message.substr(at, size));
    at += size;
  }
  return fields;
}

struct ReadEvent {
  std::int64_t step = 0;
  std::string version{};
  bool starts = false;
  std::map<std::string, float> scalars{};
  std::map<std::string, std::vector<double>> histograms{};  // the counts
};

ReadEvent event_of(const std::string& record) {
  ReadEvent event;
  for (const auto& [field, value] : fields_of(record)) {
    if (field == 2) event.step = number_at<std::int64_t>(value, 0);
    if (field == 3) event.version = value;
    if (field == 7) event.starts = fields_of(value).at(0) == std::pair(1, std::string("\1\0\0\0\0\0\0\0", 8));
    if (field != 5) continue;
    for (const auto& [of_summary, one] : fields_of(value)) {
      EXPECT_EQ(of_summary, 1);
      std::string tag;
      for (const auto& [of_value, content] : fields_of(one)) {
        if (of_value == 1) tag = content;
        if (of_value == 2) event.scalars[tag] = number_at<float>(content, 0);
        if (of_value != 5) continue;
        for (const auto& [of_histogram, numbers] : fields_of(content))
          for (std::size_t at = 0; of_histogram == 7 && at < numbers.size(); at += 8)
            event.histograms[tag].push_back(number_at<double>(numbers, at));
      }
    }
  }
  return event;
}

/// What a reader has after all files of a run: a start takes back all of its step and later.
std::vector<ReadEvent> events_of(const fs::path& run, std::size_t files) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(run))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found.size(), files);
  std::vector<ReadEvent> events;
  for (const fs::path& file : found) {
    const std::vector<std::string> records = records_of(file);
    EXPECT_EQ(event_of(records.at(0)).version, "brain.Event:2");
    const ReadEvent start = event_of(records.at(1));
    EXPECT_TRUE(start.starts);
    std::erase_if(events, [&](const ReadEvent& it) { return it.step >= start.step; });
    for (std::size_t i = 2; i < records.size(); ++i) events.push_back(event_of(records[i]));
  }
  return events;
}

/// EXPECT that the events are the lines of the log, in its order.
void expect_events_of_the_log(const fs::path& run, std::size_t files = 1) {
  const std::vector<ReadEvent> events = events_of(run, files);
  std::istringstream log(bytes_of_file(run / "log.jsonl"));
  std::size_t at = 0;
  std::int64_t step = 0;
  for (std::string text; std::getline(log, text); ++at) {
    const Json line = Json::parse(text);
    ASSERT_LT(at, events.size());
    const ReadEvent& event = events[at];
    step = line.value("step", step);
    EXPECT_EQ(event.step, step) << text;
    const std::string of = line.contains("probed") ? "probe" : line.value("split", "train");
    std::size_t numbers = 0;
    for (const auto& [key, value] : line.items())
      if (value.is_number() && key != "step") {
        ++numbers;
        ASSERT_EQ(event.scalars.count(of + "/" + key), 1u) << of << "/" << key;
        EXPECT_EQ(event.scalars.at(of + "/" + key), value.get<float>()) << key;
      }
    if (of != "probe") {
      EXPECT_EQ(event.scalars.size(), numbers);
      continue;
    }
    for (const Json& layer : line.at("layers")) {
      const std::string prefix = "probe/" + layer.at("layer").get<std::string>() + "/";
      EXPECT_EQ(event.scalars.at(prefix + "log_gradient_norm/h_5"),
                layer.at("gradients").at("h").at("log_norm").at(5).get<float>());
      for (const char* kind : {"activations", "gates"})
        for (const auto& [name, it] : layer.at(kind).items())
          EXPECT_EQ(event.histograms.at(prefix + kind + "/" + name),
                    it.at("counts").get<std::vector<double>>());
    }
  }
  EXPECT_EQ(at, events.size());
}

TEST(TensorBoard, ChecksumIsThatOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau) << "RFC 3720, B.4";
  EXPECT_EQ(crc32c("rondo"), slow_crc32c("rondo"));
}

TEST(TensorBoard, EventsAreTheLinesOfTheLog) {
  const SmallData data;
  data.trained("run", {"--epochs", "2", "--set", "train.tensorboard=true", "--set", "train.log_every=3",
                       "--set", "train.probe_every=1"});
  expect_events_of_the_log(data / "run");
}

TEST(TensorBoard, NothingIsThereTwiceAfterATrainingWasResumed) {
  const SmallData data;
  Program program(data.train("run", {"--epochs", "8", "--set", "train.tensorboard=true", "--set",
                                     "train.log_every=1", "--set", "train.probe_every=1"}));
  ASSERT_TRUE(program.wait_until([&] { return lines_of(data / "run/log.jsonl") >= 60; }));
  program.end(SIGKILL);
  ASSERT_EQ(run_lm(data.resume("run")).status, 0);
  expect_events_of_the_log(data / "run", 2);
  ASSERT_EQ(run_lm(data.resume("run", {"--epochs", "9"})).status, 0);
  expect_events_of_the_log(data / "run", 3);
}

TEST(TensorBoard, WithoutItTheTrainingIsTheSame) {
  const SmallData data;
  data.trained("plain", {"--epochs", "1"});
  data.trained("told", {"--epochs", "1", "--set", "train.tensorboard=true"});
  EXPECT_EQ(data.model_digest("plain"), data.model_digest("told"));
  EXPECT_EQ(log_of(data.path("plain")), log_of(data.path("told")));
}

}  // namespace
}  // namespace rondo
