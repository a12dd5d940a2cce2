// Trainings on texts that are not held in memory, beside the same ones in memory.
#include "data/files/input_file.h"
#include "tests/data/files/packed.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class LongTextTest : public testing::Test {
 protected:
  std::size_t files_of_ids() const {
    std::size_t count = 0;
    if (fs::exists(cache.path()))
      for (const auto& it : fs::directory_iterator(cache.path())) count += it.path().extension() == ".ids";
    return count;
  }

  const CacheFolder cache;
  const SmallData data;
  const Words not_held = {"data.memory=0"};
};

TEST_F(LongTextTest, TrainsToTheSameBytes) {
  data.trained("held");
  EXPECT_EQ(files_of_ids(), 0u);
  const std::string out = data.trained("read", not_held);
  EXPECT_EQ(files_of_ids(), 3u);
  expect_contains(out,
                  "train.txt: not held in memory (data.memory); its ids are in " + cache.path().string());
  EXPECT_EQ(data.model_digest("read"), data.model_digest("held"));
  EXPECT_EQ(bytes_of_file(data / "read/vocab.txt"), bytes_of_file(data / "held/vocab.txt"));
  EXPECT_EQ(log_of(data / "read"), log_of(data / "held"));
  for (const std::string split : {"train", "test"})
    EXPECT_EQ(json_of_lm({"eval", data.path("read"), "--split", split, "--threads", "1"}).at("nats"),
              json_of_lm({"eval", data.path("held"), "--split", split, "--threads", "1"}).at("nats"));
  EXPECT_EQ(files_of_ids(), 3u) << "the same texts and vocabulary";
}

TEST_F(LongTextTest, ResumesToTheSameBytes) {
  data.trained("held");
  for (const bool cache_is_lost : {false, true}) {
    const std::string run = cache_is_lost ? "lost" : "killed";
    Program program(data.train(run, not_held));
    ASSERT_TRUE(program.wait_until([&] { return lines_of(data / run / "log.jsonl") >= 20; }));
    program.end(SIGKILL);
    if (cache_is_lost) fs::remove_all(cache.path());
    output_of_lm(data.resume(run));
    EXPECT_EQ(data.model_digest(run), data.model_digest("held"));
  }
}

TEST_F(LongTextTest, ACutFileOfIdsIsSaidInOneLine) {
  data.trained("held");
  Program program(data.train("run", not_held));
  ASSERT_TRUE(program.wait_until([&] { return lines_of(data / "run/log.jsonl") >= 20; }));
  for (const auto& it : fs::directory_iterator(cache.path()))
    if (it.path().extension() == ".ids") fs::resize_file(it.path(), 0);
  const Result result = program.end();
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(
      result.err.ends_with("lm: a file of ids in " + cache.path().string() +
                           " was cut while it was read, or a disk is full or fails: give the command again "
                           "(of a training with --resume)\n"))
      << result.err;
  output_of_lm(data.resume("run"));
  EXPECT_EQ(data.model_digest("run"), data.model_digest("held"));
}

TEST_F(LongTextTest, AFullDiskLosesNothing) {
  std::string words = "the cat sat on a mat and the dog on a rug\n";
  while (words.size() < 400'000) words += words;
  write_bytes(data / "data/train.txt", words);
  const Result full = run_lm(data.train("run", not_held), {.max_file_bytes = 100'000});
  expect_refused(full, ".ids: File too large", 1);
  expect_contains(full.err, "XDG_CACHE_HOME names another folder");
  EXPECT_FALSE(fs::exists(data / "run"));
  EXPECT_EQ(files_of_ids(), 0u);
  EXPECT_TRUE(fs::is_empty(cache.path())) << "nothing partial";
}

TEST_F(LongTextTest, PackedTextsAndSeveralFiles) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  data.trained("held");
  const std::string text = bytes_of_file(data / "data/train.txt");
  fs::remove(data / "data/train.txt");
  write_bytes(data / "data/train.txt.gz", gzip_of(text));
  data.trained("packed");
  EXPECT_EQ(data.model_digest("packed"), data.model_digest("held"));
  data.trained("packed and read", not_held);
  EXPECT_EQ(data.model_digest("packed and read"), data.model_digest("held"));

  write_bytes(data / "data/train.txt.gz", gzip_of(text).substr(0, text.size() / 2));
  expect_refused(data.train("cut"), "train.txt.gz: incomplete");
  fs::remove(data / "data/train.txt.gz");
  const std::size_t middle = text.find('\n', text.size() / 2) + 1;
  write_bytes(data / "data/part.b", text.substr(middle));
  write_bytes(data / "data/part.a", text.substr(0, middle));
  data.trained("parts", {"data.train_files=[\"part.*\"]"});
  EXPECT_EQ(data.model_digest("parts"), data.model_digest("held"));
  expect_refused(data.train("none", {"data.train_files=[\"x*\"]"}), "data.train_files (x*)");
  expect_refused(data.train("both", {"data.train_files=[\"part.*\"]", "data.files=[\"part.*\"]"}),
                 "choose one of them");
}

}  // namespace
}  // namespace rondo
