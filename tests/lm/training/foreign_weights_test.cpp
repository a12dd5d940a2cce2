// Weights of other programs, under other names. Those of PyTorch itself: tests/exchange/exchange.py.
#include "lm/training/foreign_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lm/training/checkpoint.h"
#include "nn/models/language_model.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr int64_t V = 5;
const LanguageModelOptions small = [] {
  LanguageModelOptions options;
  options.cell = "rnn";
  options.embedding = 3;
  options.hidden = {3};
  return options;
}();
LanguageModelOptions tied_options() {
  LanguageModelOptions options = small;
  options.tied = true;
  return options;
}

/// A file whose tensors a test changes, and what becomes of it in a model.
class WeightsOfAnother : public testing::Test {
 public:
  WeightsOfAnother() : model_(small, V) {
    save_model(folder_ / "model", model_);
    file_.emplace(folder_ / "model");
  }

  TensorEntry& entry(const std::string& name) {
    for (TensorEntry& it : file_->entries)
      if (it.name == name) return it;
    throw Error("no tensor " + name);
  }
  void rename(const std::string& from, const std::string& to) {
    auto moved = file_->values.extract(from);
    moved.key() = to;
    file_->values.insert(std::move(moved));
    entry(from).name = to;
  }
  void remove(const std::string& name) {
    std::erase_if(file_->entries, [&](const TensorEntry& it) { return it.name == name; });
  }
  void add(const std::string& name, const std::string& as) {
    TensorEntry added = entry(as);
    added.name = name;
    file_->entries.push_back(added);
    file_->values[name] = file_->values.at(as);
  }
  void load(const Module& into, const std::string& rules = "") {
    write_safetensors(folder_ / "weights", file_->tensors(), {});
    ForeignWeights(folder_ / "weights", NameMap::from_text(rules, "map")).load(into);
  }
  void expect_refused(const std::string& part, const std::string& rules = "",
                      const LanguageModelOptions& options = small) {
    const LanguageModel into(options, V, 2);
    expect_contains(error_of([&] { load(into, rules); }), part);
  }
  std::vector<real> values(const std::string& name) { return parameter_named(model_, name)->to_vector(); }

 protected:
  TemporaryFolder folder_;
  LanguageModel model_;
  std::optional<TensorsInMemory> file_;
};

TEST_F(WeightsOfAnother, AreRenamedTransposedLeftOutAndZero) {
  rename("embedding.weight", "model.wte");
  rename("rnn.weight_ih_l0", "cells.0.ih");
  rename("rnn.weight_hh_l0", "cells.0.hh");
  add("step", "decoder.bias");
  remove("decoder.bias");
  std::swap(entry("model.wte").shape[0], entry("model.wte").shape[1]);  // the same numbers, as [3, 5]
  const LanguageModel into(small, V, 2);
  load(into,
       "model.wte = embedding.weight transposed\ncells.0.* = rnn.weight_*_l0\nstep =\n= decoder.bias\n");
  EXPECT_EQ(parameter_named(into, "rnn.weight_hh_l0")->to_vector(), values("rnn.weight_hh_l0"));
  EXPECT_EQ(parameter_named(into, "rnn.weight_ih_l0")->to_vector(), values("rnn.weight_ih_l0"));
  EXPECT_EQ(parameter_named(into, "decoder.bias")->to_vector(), std::vector<real>(V));
  const std::vector<real> written = values("embedding.weight"),
                          read = parameter_named(into, "embedding.weight")->to_vector();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(read[i * 3 + j], written[j * 5 + i]);
}

TEST_F(WeightsOfAnother, AreListedWhereTheyAreMissingOrTooMany) {
  rename("rnn.weight_hh_l0", "rnn.weight_hh_l0_raw");
  remove("decoder.bias");
  add("optimizer", "embedding.weight");
  expect_refused(
      "weights: lacks rnn.weight_hh_l0, decoder.bias, and has optimizer, rnn.weight_hh_l0_raw in addition: a "
      "map of names");
  expect_refused("lacks decoder.bias: a map", "*_raw = *\noptimizer =\n");
  expect_refused("has optimizer, which this model does not have", "*_raw = *\n= decoder.bias\n");
}

TEST_F(WeightsOfAnother, OfOtherShapesAreListedInOneLine) {
  LanguageModelOptions wider = small;
  wider.hidden = {4};
  expect_refused("rnn.weight_hh_l0 is [3, 3] where this model has [4, 4]", "", wider);
  expect_refused("decoder.weight is [5, 3] where this model has [5, 4]", "", wider);
  expect_refused("embedding.weight is [3, 5] where this model has [5, 3]",
                 "embedding.weight = embedding.weight transposed");
}

TEST_F(WeightsOfAnother, AreRefusedWhereARuleDoesNotFit) {
  expect_refused("decoder.bias is [5], which has no transpose", "decoder.bias = decoder.bias transposed\n");
  expect_refused("would both be x", "decoder.bias = x\nembedding.weight = x\n");
  expect_refused("decoder.bias is in the file, and the map says that it is zero", "= decoder.bias\n");
  expect_refused("zero that this model does not have: decoder.sias", "= decoder.sias\n");
}

TEST_F(WeightsOfAnother, MustBeNumbersOfTheRightType) {
  file_->set_first("decoder.bias", std::nanf(""));
  expect_refused("decoder.bias holds nan");
  entry("decoder.bias").dtype = "I32";
  expect_refused("decoder.bias is of type I32; weights are F64, F32, F16 or BF16");
}

TEST_F(WeightsOfAnother, MayHave64Bits) {
  const std::vector<real> bias = values("decoder.bias");
  const std::vector<double> doubles(bias.begin(), bias.end());
  const auto bytes = std::as_bytes(std::span(doubles));
  file_->values.at("decoder.bias").assign(bytes.begin(), bytes.end());
  entry("decoder.bias").dtype = "F64";
  const LanguageModel into(small, V, 2);
  load(into);
  EXPECT_EQ(parameter_named(into, "decoder.bias")->to_vector(), bias);
}

// By hand from IEEE 754: 1, -2, the largest, the least above 0, a third. bfloat16 is the upper half of a
// float.
TEST_F(WeightsOfAnother, MayHave16Bits) {
  const auto loaded = [&](const char* dtype, const std::vector<std::uint16_t>& bits) {
    const auto bytes = std::as_bytes(std::span(bits));
    file_->values.at("decoder.bias").assign(bytes.begin(), bytes.end());
    entry("decoder.bias").dtype = dtype;
    const LanguageModel into(small, V, 2);
    load(into);
    return parameter_named(into, "decoder.bias")->to_vector();
  };
  EXPECT_EQ(loaded("F16", {0x3c00, 0xc000, 0x7bff, 0x0001, 0x3555}),
            (std::vector<real>{1, -2, 65504, real(std::ldexp(1.0, -24)), real(0.333251953125)}));
  EXPECT_EQ(loaded("BF16", {0x3f80, 0xc000, 0x7f7f, 0x0000, 0x3eab}),
            (std::vector<real>{1, -2, real(3.3895313892515355e38), 0, real(0.333984375)}));
  const auto infinite = [&] { loaded("F16", {0x3c00, 0x7c00, 0, 0, 0}); };
  expect_contains(error_of(infinite), "decoder.bias holds inf");
}

TEST_F(WeightsOfAnother, TiedMayHaveEitherNameOrBoth) {
  const LanguageModel into(tied_options(), V, 2);
  expect_refused("embedding.weight and decoder.weight differ", "", tied_options());
  file_->values.at("decoder.weight") = file_->values.at("embedding.weight");
  load(into);
  EXPECT_EQ(parameter_named(into, "embedding.weight")->to_vector(), values("embedding.weight"));
  remove("embedding.weight");
  const LanguageModel again(tied_options(), V, 3);
  load(again);
  EXPECT_EQ(parameter_named(again, "embedding.weight")->to_vector(), values("embedding.weight"));
  remove("decoder.weight");
  expect_refused("lacks embedding.weight or decoder.weight", "", tied_options());
}

}  // namespace
}  // namespace rondo
