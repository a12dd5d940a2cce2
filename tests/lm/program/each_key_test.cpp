// Each key of a recipe reaches what it configures: for each there is a value, other than the default, that
// changes what a training of a few steps logs. A recipe contains the structs that the code reads, so that
// what can go wrong is a member that no code reads. Of other tasks than language modelling: their tests.

#include <algorithm>
#include <set>

#include "data/text/pieces.h"
#include "lm/program/recipe.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// The settings that `expect_each_has_an_effect` takes, of the sections [data] and [train].
const std::string of_texts_and_training = R"(
    data.unit=characters data.unit=characters|data.strip_lines=true data.vocabulary=all
    data.tokenize=true data.lowercase=true
    data.vocabulary_file=words.txt data.min_count=2 data.max_size=6 data.train_files=["train.txt","more.txt"]
    data.block_lines=10|data.files=["train.txt"]
    data.files=["train.txt"]&data.block_lines=10|data.block_lines=5
    data.batching=lines data.batching=lines|data.evaluated_as=stream

    train.seed=2 train.epochs=3 train.steps=3 train.optimizer=sgd|train.clip=0.1 train.weight_noise=0.1
    train.averaging=always train.eval_every=1&train.learning_rate=0.5|train.early_stopping=1
    train.averaging=non_monotonic&train.eval_every=1&train.learning_rate=0.5|train.averaging_interval=100
    train.eval_every=1&train.learning_rate=0.5|train.non_monotonic_stopping=true
    train.optimizer=rmsprop train.learning_rate=0.01 train.optimizer=sgd|train.momentum=0.9 train.beta1=0.5
    train.beta2=0.5 train.epsilon=0.1 train.optimizer=rmsprop|train.alpha=0.5
    train.optimizer=adagrad|train.initial_squares=0.5 train.weight_decay=0.1
    train.schedule=step train.schedule=step|train.decay=0.1 train.schedule=decay_after|train.decay_after=1
    train.schedule=milestones&train.decay_at=[1]|train.decay_at=[2] train.schedule=step|train.decay_every=2
    train.schedule=plateau&train.eval_every=1&train.learning_rate=0.5|train.patience=1
    train.batch=4 train.length=7 train.length_deviation=2 train.reset_every=1
    model.cell=bn_lstm|train.micro_batch=4 train.loss=sum_over_time train.activation_regularization=2
    train.temporal_regularization=2 train.eval_streams=2 train.eval_streams=2|train.eval_warm_up=9 train.final_streams=2 train.eval_every=5
    train.log_every=3 train.probe_every=1)";

const std::string of_pieces_of_words = R"(
    data.unit=pieces&data.pieces=250|data.pieces_model=bpe data.unit=pieces&data.pieces=250|data.pieces=252)";

const std::string of_every_model = R"(
    model.cell=gru model.layers=2 model.embedding=5 model.embedding_file=vectors.txt model.hidden=5
    model.major_ratio=0.5 model.major_ratio=0.5&model.layers=2|model.minor_input=previous_layer
    model.output_layers=[5] model.output_layers=[5]|model.output_activation=identity model.experts=2
    model.experts=2|model.latent_dropout=0.5 model.hidden=16|model.output=adaptive
    model.hidden=16&model.output=adaptive|model.cutoffs=[2,5]
    model.hidden=16&model.output=adaptive|model.cluster_divisor=2 model.tied=true model.dropout=0.5
    model.input_dropout=0.5 model.layers=2|model.hidden_dropout=0.5 model.output_dropout=0.5
    model.dropout=0.3|model.variational=true model.embedding_dropout=0.5 model.weight_drop=0.5
    model.recurrent_dropout=0.5 model.zoneout=0.5 model.zoneout_memory=0.5 model.input_init=uniform
    model.input_init=uniform|model.input_range=0.5 model.recurrent_init=orthogonal
    model.recurrent_init=normal|model.recurrent_range=0.5 model.output_init=log_normal
    model.output_init=uniform|model.output_range=0.5 model.embedding_init=normal model.embedding_range=0.5
    model.init_all=0.05 model.trained_initial_states=true model.biases=1 model.forget_bias=1
    model.cell=rnn|model.activation=relu)";

const std::string of_cells = R"(
    model.cell=mgu|model.mgu_gate=mgu1 model.cell=mlstm|model.intermediate=3
    model.cell=dt_rnn|model.transition=[3]
    model.cell=mi_lstm|model.alpha=2 model.cell=mi_lstm|model.beta1=2 model.cell=mi_lstm|model.beta2=2
    model.cell=mi_lstm|model.integration_bias=2 model.cell=mogrifier_lstm|model.mogrifier_rounds=2
    model.cell=mogrifier_lstm|model.mogrifier_rank=2 model.cell=rhn|model.recurrence_depth=2
    model.cell=rhn|model.transform_bias=0 model.cell=sru|model.highway_bias=1 model.cell=qrnn|model.window=3
    model.cell=fs_lstm|model.fast_cells=3 model.cell=fs_lstm|model.slow_units=3
    model.cell=slstm|model.heads=2 model.embedding=6&model.hidden=6|model.block=residual
    model.embedding=6&model.hidden=6&model.block=residual|model.expansion=2
    model.embedding=6&model.hidden=6&model.block=residual|model.convolution=true
    model.embedding=6&model.hidden=6&model.block=residual|model.gate=true
    model.embedding=6&model.hidden=6&model.block=residual|model.feed_forward=2)";

/// Keys of language modelling that other tests show to act.
std::set<std::string> keys_shown_elsewhere() {
  std::set<std::string> names = {"data.memory",          // long_text_test.cpp
                                 "data.unknown",         // below
                                 "model.bidirectional",  // recipes_test.cpp: what it is refused for
                                 "train.save_every",     // resume_test.cpp
                                 "report.ngrams",        // below
                                 "report.sample"};       // program_test.cpp
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    for (const char* section : {"recipe.", "published.",  // recipes_test.cpp
                                "finetune.",              // finetune_test.cpp
                                "dynamic.", "cache."})    // adaptive_test.cpp
      if (key.name.starts_with(section)) names.insert(key.name);
  return names;
}

class TinyTraining : public ToyTraining {
 public:
  TinyTraining()
      : ToyTraining(R"(
[model]
embedding = 4
hidden = 4
[train]
batch = 8
length = 10
learning_rate = 0.03
log_every = 1
)") {
    SmallData text;
    write("data/train.txt", "The cat, the dog\n" + text.text(150) + "a rare dog\n  and the cat \n");
    write("data/valid.txt", text.text(20) + "a new dog\n");
    write("data/test.txt", text.text(20));
    write("data/more.txt", "a new cat\n");
    write("words.txt", "<eos>\n<unk>\nthe\ncat\n");
    write("vectors.txt", "cat 0.1 -0.2 0.3 0.4\ndog 0.5 0.1 -0.3 0.2\n");
    write("empty.toml", "");
  }
  /// With the paths of the files; without those of pieces, where this program has none.
  std::string settings(const std::string& others) const {
    std::string all = of_texts_and_training + of_every_model + others;
    if (has_sentencepiece()) all += of_pieces_of_words;
    for (const std::string file : {"words.txt", "vectors.txt"})
      all.replace(all.find('=' + file) + 1, file.size(), path(file));
    return all;
  }
  /// The scores of an exported model that is imported again with no settings but those that the export's
  /// model.py knows, and those of the run; or "refused: " and why.
  std::pair<std::string, std::string> exported(const Words& more) {
    const std::string name = fmt::format("run-{}", ++runs_), run = path(name), out = run + "-out",
                      back = run + "-back", weights = "/model.safetensors";
    output_of_lm(train(name, Words{"--epochs", "2"} + more));
    const Result result = run_lm({"export", run, "--out", out});
    if (result.status != 0) return {"refused: " + result.err, ""};
    const Json config = Json::parse(bytes_of_file(out + "/config.json")), &model = config.at("model");
    Words words{"import", out + weights, "--vocab",  out + "/vocab.txt",
                "--out",  back,          "--recipe", path("empty.toml")};
    const auto set = [&](const std::string& key, const std::string& value) {
      words.push_back(key + "=" + value);
    };
    set("data.unit", config.at("unit"));
    set("data.strip_lines", config.at("strip_lines").dump());
    set("model.cell", model.at("cell"));
    set("model.output_activation", model.at("output_activation") == "Tanh" ? "tanh" : "identity");
    for (const auto& [key, value] : model.at("settings").items()) set("model." + key, value.dump());
    const std::string recipe = bytes_of_file(out + "/recipe.toml");
    for (const std::string key :  // model.py reads them off the names and shapes of the weights
         {"layers", "embedding", "hidden", "output_layers", "tied", "experts", "output", "cutoffs",
          "cluster_divisor", "block", "expansion", "convolution", "gate", "feed_forward",
          "trained_initial_states"}) {
      const std::size_t begin = recipe.find("\n" + key + " = ", recipe.find("[model]")) + key.size() + 4;
      set("model." + key, recipe.substr(begin, recipe.find("  #", begin) - begin));
    }
    output_of_lm(words);
    const std::string lines = "the cat sat on the mat\n a rare dog \n";
    return {output_of_lm({"score", back}, lines), output_of_lm({"score", run}, lines)};
  }

 private:
  int runs_ = 0;
};

TEST(EachKey, ShowsInWhatATrainingDoes) {
  std::set<std::string> known = keys_shown_elsewhere(), keys;
  for (const std::string& word :
       words_in(of_texts_and_training + of_pieces_of_words + of_every_model + of_cells)) {
    const std::string setting = word.substr(word.find('|') + 1);  // all of it where there is no '|'
    EXPECT_TRUE(known.insert(setting.substr(0, setting.find('='))).second) << word << ": once is enough";
  }
  Recipe recipe;
  for (const Key& key : keys_of(recipe)) keys.insert(key.name);
  EXPECT_EQ(known, keys) << "a key is new or gone: say above what shows that it acts";

  TinyTraining data;
  expect_each_has_an_effect(data, data.settings(of_cells), 2);
  expect_refused_training(data, {"data.unknown=false"}, "'new'");
  expect_contains(data.trained("run", {"--epochs", "1", "report.ngrams=true"}), "Kneser-Ney of order 5");
}

// Of sections [data] and [model]: on the others a trained model does not depend.
TEST(EachKey, IsExportedOrRefused) {
  TinyTraining data;
  for (std::string word : words_in(data.settings(of_cells))) {
    const std::size_t begin = word.find('|') + 1;
    const std::string key = word.substr(begin, word.find('=', begin) - begin);
    if (!key.starts_with("model.") && !key.starts_with("data.")) continue;
    for (char& it : word)
      if (it == '|' || it == '&') it = ' ';
    const auto [theirs, ours] = data.exported(words_in(word));
    const bool is_refused = theirs.starts_with("refused");
    EXPECT_TRUE(is_refused || theirs == ours) << word;
    if (is_refused && key != "model.cell" && begin == 0) expect_contains(theirs, key + " = ");
  }
}

TEST(EachKeyOfTranslation, TheTokenizationOfBleuIsInItsSignature) {
  const TemporaryFolder folder;
  output_of_lm({"train", "--recipe", "copy-reverse", "--out", folder / "run", "--epochs", "1",
                "data.generated_pairs=50", "model.hidden=8"});
  expect_contains(json_of_lm({"eval", folder / "run"}).at("bleu_signature"), "tok:none");
}

}  // namespace
}  // namespace rondo
