// `lm import`, `lm export` and word vectors: the program itself. What PyTorch and ONNX make of the files:
// tests/exchange/exchange.py.
#include <gtest/gtest.h>

#include <cmath>

#include "data/text/text.h"
#include "lm/program/run.h"
#include "lm/training/checkpoint.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

class Exchange : public testing::Test {
 public:
  /// `lm export` of the run `name` to the folder `out`.
  Result exported(const std::string& name, const std::string& format, const std::string& out) const {
    return run_lm({"export", data_.path(name), "--format", format, "--out", data_.path(out)});
  }
  /// `lm import` of what was exported to `from`, to the run `name`.
  Words import(const std::string& from, const std::string& name, const Words& more = {}) const {
    return Words{"import",  data_.path(from + "/model.safetensors"), "--recipe", data_.path("small.toml"),
                 "--vocab", data_.path(from + "/vocab.txt"),         "--out",    data_.path(name)} +
           more;
  }
  void train(const std::string& name, const Words& settings = {}) const {
    data_.trained(name, Words{"--epochs", "1", "train.eval_every=0"} + settings);
  }

 protected:
  const SmallData data_;
  int runs_ = 0;
};

TEST_F(Exchange, AnExportedRunComesBackWithTheSameBytes) {
  train("run");
  expect_contains(output_of_lm({"export", data_.path("run"), "--out", data_.path("out")}), "out/use.py");
  EXPECT_EQ(sha256_hex(bytes_of_file(data_ / "out/model.safetensors")), data_.model_digest("run"));
  EXPECT_EQ(bytes_of_file(data_ / "out/vocab.txt"), bytes_of_file(data_ / "run/vocab.txt"));
  write_bytes(data_ / "out/vocab.txt", "\xef\xbb\xbf" + bytes_of_file(data_ / "out/vocab.txt"));
  expect_contains(output_of_lm(import("out", "back")), "lm eval " + data_.path("back") + " --text FILE");
  EXPECT_EQ(data_.model_digest("back"), data_.model_digest("run"));
  EXPECT_EQ(bytes_of_file(data_ / "back/vocab.txt"), bytes_of_file(data_ / "run/vocab.txt"));
  expect_refused(exported("run", "onnx", "out"), "the folder is not empty");

  const std::string text = data_.path("data/test.txt");
  const auto nats = [&](const std::string& run) {
    return json_of_lm({"eval", data_.path(run), "--text", text}).at("nats");
  };
  EXPECT_EQ(nats("back"), nats("run"));
  for (const char* command : {"info", "table", "generate"}) output_of_lm({command, data_.path("back")});
  expect_contains(output_of_lm({"info", data_.path("back")}), "imported from " + data_.path("out"));
  EXPECT_EQ(output_of_lm({"score", data_.path("back")}, "the cat\n"),
            output_of_lm({"score", data_.path("run")}, "the cat\n"));
  expect_refused({"eval", data_.path("back")}, "it has no text of its own; which text? As in: ");
  expect_refused({"train", "--out", data_.path("back"), "--resume"},
                 "imported, so there is no training to resume; to train it further: ");
  output_of_lm(import("out", "with-text", {"--data", data_.path("data")}));
  EXPECT_EQ(json_of_lm({"eval", data_.path("with-text"), "--split", "test"}).at("nats"), nats("run"));
}

TEST_F(Exchange, AFolderOfAnExportIsImportedAlone) {
  train("run", {"model.layers=1"});
  ASSERT_EQ(exported("run", "pytorch", "out").status, 0);
  output_of_lm({"import", data_.path("out"), "--out", data_.path("back")});
  EXPECT_EQ(data_.model_digest("back"), data_.model_digest("run"));
  const auto settings = [&](const std::string& name) {
    const std::string config = bytes_of_file(data_ / name / "config.toml");
    return config.substr(0, config.find("[made_by]"));
  };
  EXPECT_EQ(settings("back"), settings("run"));
  fs::remove(data_ / "out/recipe.toml");  // as in exports of older versions
  for (const auto& [folder, part] : {std::pair("run", "it is a run already"), {"out", "recipe.toml"}}) {
    expect_refused({"import", data_.path(folder), "--out", data_.path("new")}, part);
    EXPECT_FALSE(fs::exists(data_ / "new"));
  }
}

TEST_F(Exchange, AnImportedRunIsFinetuned) {
  train("run");
  output_of_lm({"export", data_.path("run"), "--out", data_.path("out")});
  // In another order than the text's, so that the vocabulary must come from the run.
  const std::string vocabulary = bytes_of_file(data_ / "run/vocab.txt");
  const std::size_t end = vocabulary.find('\n') + 1;
  write_bytes(data_ / "out/vocab.txt", vocabulary.substr(end) + vocabulary.substr(0, end));
  output_of_lm(import("out", "back"));
  const Words finetune{"finetune", data_.path("back"), "--out", data_.path("better"),      "--epochs",
                       "2",        "--threads",        "1",     "finetune.learning_rate=1"};
  expect_refused(finetune, "which text? give --data");
  output_of_lm(finetune + Words{"--data", data_.path("data")});
  EXPECT_EQ(bytes_of_file(data_ / "better/vocab.txt"), bytes_of_file(data_ / "out/vocab.txt"));
  output_of_lm({"train", "--out", data_.path("better"), "--resume", "--epochs", "3"});
}

TEST_F(Exchange, WhatCannotBeImportedIsRefusedAndLeavesNothing) {
  train("run");
  output_of_lm({"export", data_.path("run"), "--out", data_.path("out")});
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(import("out", "new", more), part);
    EXPECT_FALSE(fs::exists(data_ / "new"));
  };
  refused({"model.hidden=33"}, "rnn.weight_hh_l0 is [128, 32] where this model has [132, 33]");
  refused({"model.biases=1"}, "has rnn.bias_hh_l0, rnn.bias_hh_l1, which this model does not have");
  refused({"model.layers=3"},
          "lacks rnn.bias_ih_l2, rnn.bias_hh_l2, rnn.weight_ih_l2, rnn.weight_hh_l2: a map of names, --map "
          "FILE, renames");
  refused({"model.layers=3", "model.hidden=33"},
          "(= NEW); rnn.bias_ih_l0 is [128] where this model has [132]");
  refused({"--map", data_.path("none")}, "none");
  write_bytes(data_ / "map", "\xef\xbb\xbf# rules\r\nlstm.* = rnn.*\r\n");
  refused({"--map", data_.path("map")}, "map: line 2: ");
  write_bytes(data_ / "out/vocab.txt", bytes_of_file(data_ / "run/vocab.txt") + "more\n");
  refused({}, "vocab.txt: 15 symbols, and " + data_.path("out/model.safetensors") +
                  " has 14 rows of embedding.weight: each row is a symbol");
  expect_refused(import("out", "run"), "holds a run already");
  expect_refused({"import", data_.path("out/model.safetensors"), "--recipe", "seq2seq-multi30k", "--vocab",
                  data_.path("run/vocab.txt")},
                 "only language models can be imported");
  const std::string weights = data_.path("run/model.safetensors");
  expect_refused({"import", weights}, "import: --recipe says what");
  expect_refused({"import", weights, "--recipe", "char-lstm"}, "--vocab what the rows are of");
  expect_refused(import("out", "new", {"model.hidden=fit:1M"}), "the weights have a width: give it");
}

/// lm score of a model whose numbers are sin(1), sin(2), ... in the order of its tensors: by numpy, as
/// h = f(W x + b + U h + b') and log softmax(D h + d).
TEST_F(Exchange, TheActivationOfAnRnnIsSaid) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes = {
      {"embedding.weight", {5, 2}}, {"rnn.weight_ih_l0", {3, 2}}, {"rnn.weight_hh_l0", {3, 3}},
      {"rnn.bias_ih_l0", {3}},      {"rnn.bias_hh_l0", {3}},      {"decoder.weight", {5, 3}},
      {"decoder.bias", {5}}};
  std::vector<float> numbers;
  for (int i = 1; i <= 51; ++i) numbers.push_back(std::sin(static_cast<float>(i)));
  std::vector<TensorBytes> tensors;
  std::size_t begin = 0;
  for (const auto& [name, shape] : shapes) {
    const auto count = static_cast<std::size_t>(shape.front() * (shape.size() > 1 ? shape.back() : 1));
    tensors.push_back({name, "F32", shape, std::as_bytes(std::span(numbers).subspan(begin, count))});
    begin += count;
  }
  fs::create_directory(data_ / "rnn");
  write_safetensors(data_ / "rnn/model.safetensors", tensors, {});
  write_bytes(data_ / "rnn/vocab.txt", "<unk>\n<eos>\na\nb\nc\n");
  for (const auto& [activation, nats] : {std::pair("tanh", -10.856785), {"relu", -15.140176}}) {
    const std::string said =
        output_of_lm(import("rnn", activation,
                            {"model.cell=rnn", "model.layers=1", "model.embedding=2", "model.hidden=3",
                             std::string("model.activation=") + activation}));
    EXPECT_EQ(said.find("model.activation = tanh, which weights do not say") == said.npos, nats < -11)
        << said;
    EXPECT_NEAR(std::stod(output_of_lm({"score", data_.path(activation)}, "a b c a b\n")), nats, 2e-5);
  }
  for (const std::string format : {"pytorch", "onnx"}) EXPECT_EQ(exported("relu", format, format).status, 0);
  expect_contains(bytes_of_file(data_ / "pytorch/config.json"), "\"activation\": \"relu\"");
  expect_contains(bytes_of_file(data_ / "onnx/model.onnx"), "activationsJ\x04Relu");
}

TEST_F(Exchange, SaysWhichGruPyTorchHas) {
  train("run", {"model.cell=gru"});
  expect_contains(output_of_lm(import("run", "back", {"model.cell=gru"})),
                  "--set model.cell=gru_reset_after");
  EXPECT_EQ(data_.model_digest("back"), data_.model_digest("run"));
}

TEST_F(Exchange, WhatHasNoCounterpartIsRefused) {
  const auto refused = [&](const std::string& format, const Words& settings, const std::string& part) {
    const std::string name = fmt::format("run-{}", ++runs_);
    train(name, settings);
    expect_refused(exported(name, format, "out"), part);
    EXPECT_FALSE(fs::exists(data_ / "out"));
  };
  refused("onnx", {"model.cell=mi_lstm"}, "these can: rnn, lstm, gru, gru_reset_after");
  refused("onnx", {"model.experts=2"}, "model.experts = 2 cannot be exported");
  refused("pytorch", {"model.zoneout=0.1"}, "model.zoneout = 0.1 cannot be exported");
  refused("pytorch", {"model.major_ratio=0.5"}, "model.major_ratio = [0.5] cannot be exported");
}

TEST_F(Exchange, ATranslatorIsExportedToOnnxAlone) {
  const SmallTranslator small;
  const std::string out = small.path("out");
  const auto exported_of = [&](const Words& settings, const std::string& format) {
    const std::string run = fmt::format("run-{}", ++runs_);
    small.trained(run, Words{"data.pairs_share=0.1"} + settings);
    return run_lm({"export", small.path(run), "--format", format, "--out", out});
  };
  expect_refused(exported_of({}, "pytorch"), "translators are exported with --format onnx alone");
  expect_refused(exported_of({"model.cell=mi_lstm"}, "onnx"), "these can: rnn, lstm, gru, gru_reset_after");
  expect_refused(exported_of({"model.zoneout=0.1"}, "onnx"), "model.zoneout = 0.1 cannot be exported");
  expect_refused(exported_of({"model.trained_initial_states=true"}, "onnx"),
                 "model.trained_initial_states = true cannot be exported");
  EXPECT_FALSE(fs::exists(out));
  expect_contains(exported_of({"data.shared_vocabulary=true"}, "onnx").out, "8 and 8 symbols; to use it: ");
  EXPECT_EQ(bytes_of_file(out + "/vocab.source.txt"), bytes_of_file(small.path("run-5/vocab.source.txt")));
}

TEST_F(Exchange, AnEmbeddingBeginsWithWordVectors) {
  std::string numbers;
  for (int i = 0; i < 24; ++i) numbers += fmt::format(" {}", 0.25 * i);
  write_bytes(data_ / "vectors.txt", "3 24\ncat" + numbers + "\nnever" + numbers + "\nmat" + numbers + "\n");
  const Words settings = {"model.embedding_file=" + data_.path("vectors.txt"), "train.learning_rate=1e-9"};
  const Result result = run_lm_well(data_.train("run", Words{"--epochs", "1"} + settings));
  expect_contains(result.out, "vectors.txt: vectors of 2 of 14 words");
  const RunConfig config = read_config(open_run_folder(data_ / "run"));
  EXPECT_EQ(config.made_by.embedding_file, sha256_hex(bytes_of_file(data_ / "vectors.txt")));
  const TensorsInMemory model(data_ / "run/model.safetensors");
  const std::string vocabulary = bytes_of_file(data_ / "run/vocab.txt");
  const std::vector<std::string_view> symbols = split_lines(vocabulary);
  const auto* table = reinterpret_cast<const float*>(model.values.at("embedding.weight").data());
  for (std::size_t id = 0; id < symbols.size(); ++id)
    for (std::size_t e = 0; e < 24; ++e) {
      const float number = table[id * 24 + e];
      if (symbols[id] == "cat" || symbols[id] == "mat")
        EXPECT_NEAR(number, 0.25 * static_cast<double>(e), 1e-4);
      else
        EXPECT_LE(std::abs(number), 0.11);
    }
  // The file is not needed any more.
  fs::remove(data_ / "vectors.txt");
  output_of_lm(data_.resume("run", {"--epochs", "2"}));
  output_of_lm({"eval", data_.path("run"), "--split", "test"});

  const auto refused = [&](const std::string& file, const Words& more, const std::string& part) {
    expect_refused_training(data_, more + Words{"model.embedding_file=" + data_.path(file)}, part);
  };
  write_bytes(data_ / "narrow.txt", "cat 1 2 3\n");
  refused("narrow.txt", {}, "narrow.txt: vectors of 3 numbers, and the embedding has 24");
  write_bytes(data_ / "strange.txt", "never" + numbers + "\n");
  refused("strange.txt", {}, "none of its words is in the vocabulary");
  refused("strange.txt", {"model.embedding=0"}, "model.embedding = 0 has none");
  refused("strange.txt", {"data.unit=characters"}, "has vectors of words");
}

}  // namespace
}  // namespace rondo
