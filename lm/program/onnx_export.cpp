// Models as graphs of ONNX's operators.
#include "lm/program/onnx_export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lm/training/checkpoint.h"
#include "nn/cells/rnn.h"

namespace rondo {
namespace {

/// The operator of ONNX that computes what a cell does.
struct Counterpart {
  std::string cell, onnx;
  std::vector<std::int64_t> gates;  // in ONNX's order: their indices here
  bool resets_after = false;        // a GRU
};

const std::vector<Counterpart> counterparts = {
    {"rnn", "RNN", {0}},
    {"lstm", "LSTM", {0, 3, 1, 2}},  // i o f c of i f g o
    {"gru", "GRU", {1, 0, 2}},       // z r h of r z n
    {"gru_reset_after", "GRU", {1, 0, 2}, true},
};

using Extents = std::vector<OnnxGraph::Extent>;
/// The shape of a tensor of one step.
Extents of_step(std::int64_t units) { return {std::int64_t{1}, "B", units}; }

const OnnxGraph::Attributes along_units{{"axis", std::int64_t{-1}}};

/// What the graphs of all models have in common. Their input is ids [`steps`, B], and parameters have the
/// model's names.
class GraphWriter {
 public:
  GraphWriter(const Module& model, const RecurrentOptions& options, const OnnxGraph::Extent& steps)
      : model_(model), options_(options) {
    graph.add_input("ids", OnnxGraph::Type::int64, {steps, "B"});
  }

  OnnxGraph graph;

  /// A node with one output, which is named `output`.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   const OnnxGraph::Attributes& attributes = {}) {
    graph.add_node(op, inputs, {output}, attributes);
    return output;
  }

  /// A tensor of floats that the graph reads.
  std::string input(const std::string& name, const Extents& shape) {
    graph.add_input(name, OnnxGraph::Type::float32, shape);
    return name;
  }
  /// Returns a tensor from the graph, under another name.
  void output(const std::string& tensor, const std::string& name, const Extents& shape) {
    graph.add_output(name, OnnxGraph::Type::float32, shape);
    node("Identity", {tensor}, name);
  }

  /// A parameter as it is.
  std::string constant(const std::string& name) {
    const Tensor values = parameter_named(model_, name).value();
    const std::vector<real> numbers = values.to_vector();
    graph.add_constant(name, extents(values.shape()), std::vector<float>(numbers.begin(), numbers.end()));
    return name;
  }
  /// Whole numbers, as operators want them for axes and shapes.
  std::string constant(const std::string& name, const std::vector<std::int64_t>& numbers) {
    graph.add_constant(name, {std::ssize(numbers)}, numbers);
    return name;
  }

  /// The vectors of symbols, [T, B, E].
  std::string embedded(const std::string& of) { return node("Gather", {constant(of), "ids"}, "embedded"); }

  /// x W^T.
  std::string product(const std::string& x, const std::string& name, const std::string& weight) {
    const std::string transposed =
        node("Transpose", {weight}, name + ".transposed", {{"perm", std::vector<std::int64_t>{1, 0}}});
    return node("MatMul", {x, transposed}, name + ".product");
  }

  /// x W^T + b, with `name`.bias and `name`.weight, unless the weight is that of another module.
  std::string linear(const std::string& x, const std::string& name, const std::string& tied = "") {
    const std::string weight = tied.empty() ? constant(name + ".weight") : tied;
    return node("Add", {product(x, name, weight), constant(name + ".bias")}, name + ".output");
  }

  /// The states of a layer: h, and c of an LSTM.
  std::string states() const { return cell_.onnx == "LSTM" ? "hc" : "h"; }

  /// Layer i of the stack that is named "`stack`", with H units in each of D directions: x [T, B, I] to
  /// [T, D, B, H]. It begins with zeros; `stack`h_li and `stack`c_li [D, B, H] are the states after all
  /// steps. One in a single direction that `is_continued` begins with the graph's inputs h_li and c_li, and
  /// makes [T, B, H] and the graph's outputs next_h_li and next_c_li.
  std::string layer(const std::string& x, const std::string& stack, std::int64_t i, std::int64_t H,
                    bool is_continued = true, std::int64_t D = 1) {
    const std::string suffix = fmt::format("_l{}", i);
    const std::int64_t rows = std::ssize(cell_.gates) * H;
    // Gates in ONNX's order; zeros for a bias that is absent. One direction follows the other.
    const auto stacked = [&](const std::string& as, const std::vector<std::string>& names) {
      std::vector<float> all;
      for (std::int64_t d = 0; d < D; ++d)
        for (const std::string& name : names) {
          const auto values = parameter_named(model_, stack + name + suffix + (d == 1 ? "_reverse" : ""));
          const auto numbers =
              values ? values->to_vector() : std::vector<real>(static_cast<std::size_t>(rows));
          const std::int64_t size = std::ssize(numbers) / std::ssize(cell_.gates);
          for (const std::int64_t gate : cell_.gates)
            all.insert(all.end(), numbers.begin() + gate * size, numbers.begin() + (gate + 1) * size);
        }
      std::vector<std::int64_t> shape{D, rows, std::ssize(all) / (D * rows)};
      if (names.size() > 1) shape = {D, 2 * rows};
      graph.add_constant(stack + as + suffix, shape, all);
      return stack + as + suffix;
    };
    const std::string biases = stacked("bias", {"bias_ih", "bias_hh"});
    std::vector<std::string> inputs{x, stacked("weight_ih", {"weight_ih"})},
        outputs{stack + "sequence" + suffix};
    inputs.insert(inputs.end(), {stacked("weight_hh", {"weight_hh"}), biases, ""});
    for (const char state : states()) {
      const std::string name = state + suffix;
      outputs.push_back((is_continued ? "next_" : stack) + name);
      if (!is_continued) continue;
      inputs.push_back(input(name, of_step(H)));
      graph.add_output(outputs.back(), OnnxGraph::Type::float32, of_step(H));
    }
    OnnxGraph::Attributes attributes{{"hidden_size", H}};
    if (D == 2) attributes.emplace_back("direction", "bidirectional");
    if (has_relu(options_))
      attributes.emplace_back("activations", std::vector<std::string>(static_cast<std::size_t>(D), "Relu"));
    if (cell_.onnx == "GRU") attributes.emplace_back("linear_before_reset", std::int64_t{cell_.resets_after});
    graph.add_node(cell_.onnx, inputs, outputs, attributes);
    if (!is_continued) return outputs.front();
    if (i == 0) constant("directions", {1});  // the axis of directions, of which there is one
    return node("Squeeze", {outputs.front(), "directions"}, stack + "output" + suffix);
  }

 private:
  const Module& model_;
  const RecurrentOptions& options_;
  const Counterpart& cell_ = *std::ranges::find(counterparts, options_.cell, &Counterpart::cell);
};

}  // namespace

void check_onnx_has(const std::string& cell, const std::string& where) {
  std::vector<std::string> cells;
  for (const Counterpart& it : counterparts) cells.push_back(it.cell);
  check_input(std::ranges::count(cells, cell) > 0,
              "{}: the cell {} cannot be exported to onnx; these can: {}", where, cell,
              fmt::join(cells, ", "));
}

bool has_relu(const RecurrentOptions& options) {
  return options.cell == "rnn" && options.cell_settings.get<RnnSettings>().activation == RnnActivation::relu;
}

OnnxGraph graph_of(const LanguageModel& model) {
  const LanguageModelOptions& options = model.options();
  const std::int64_t V = model.vocabulary_size();
  GraphWriter it(model, options, "T");
  it.graph.add_output("log_probabilities", OnnxGraph::Type::float32, {"T", "B", V});
  const auto one_hot = [&] {  // of a model without an embedding: zeros with a 1
    it.constant("vocabulary_size", {V});
    const std::vector<float> off_and_on{0, 1};
    it.graph.add_constant("off_and_on", {2}, off_and_on);
    return it.node("OneHot", {"ids", "vocabulary_size", "off_and_on"}, "embedded");
  };
  std::string x = options.embedding > 0 ? it.embedded("embedding.weight") : one_hot();
  for (std::int64_t i = 0; i < std::ssize(options.hidden); ++i)
    x = it.layer(x, "rnn.", i, options.hidden[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < options.output_layers.size(); ++i) {
    const std::string name = fmt::format("output_layer_{}", i);
    x = it.linear(x, name);
    if (options.output_activation == OutputActivation::tanh) x = it.node("Tanh", {x}, name + "_activation");
  }
  it.node("LogSoftmax", {it.linear(x, "decoder", options.tied ? "embedding.weight" : "")},
          "log_probabilities", along_units);
  return std::move(it.graph);
}

OnnxGraph encoder_graph(const EncoderDecoder& model) {
  const EncoderDecoderOptions& options = model.options();
  const std::int64_t H = options.hidden, D = options.bidirectional ? 2 : 1;
  const Extents of_all_steps{"S", "B", H};
  GraphWriter it(model, options, "S");
  // Makes [.., D, B, H / D] to [.., B, H], the directions side by side.
  const auto beside = [&](const std::string& x, const std::vector<std::int64_t>& order,
                          const std::vector<std::int64_t>& shape) {
    const std::string by_row = it.node("Transpose", {x}, x + ".by_row", {{"perm", order}});
    return it.node("Reshape", {by_row, it.constant(x + ".shape", shape)}, x + ".beside");
  };
  const bool has_one_table = options.tied == TiedTables::all;
  std::string h = it.embedded(has_one_table ? "target_embedding.weight" : "source_embedding.weight");
  std::map<char, std::string> last;  // h and c of a layer; a deeper decoder repeats those of the last one
  const std::int64_t layers = options.encoder_layers, of_decoder = options.decoder_layers;
  for (std::int64_t i = 0; i < std::max(layers, of_decoder); ++i) {
    if (i < layers) h = beside(it.layer(h, "encoder.", i, H / D, false, D), {0, 2, 1, 3}, {0, -1, H});
    for (const char state : it.states()) {
      const std::string name = fmt::format("{}_l{}", state, i), bridge = "bridge." + name;
      if (i < layers) last[state] = beside("encoder." + name, {1, 0, 2}, {1, -1, H});
      if (i >= of_decoder || options.bridge == Bridge::zeros) continue;
      const bool is_linear = options.bridge == Bridge::linear;
      it.output(is_linear ? it.node("Tanh", {it.linear(last[state], bridge)}, bridge) : last[state], name,
                of_step(H));
    }
  }
  if (options.attention == Score::none)
    it.output(last['h'], "context", of_step(H));
  else
    it.output(h, "states", of_all_steps);
  if (options.attention == Score::additive)
    it.output(it.product(h, "keys", it.constant("attention.U_a")), "keys", of_all_steps);
  return std::move(it.graph);
}

OnnxGraph decoder_graph(const EncoderDecoder& model) {
  const EncoderDecoderOptions& options = model.options();
  const std::int64_t H = options.hidden, R = options.readout_width();
  const Extents of_all_steps{"S", "B", H};
  GraphWriter it(model, options, std::int64_t{1});
  it.graph.add_output("log_probabilities", OnnxGraph::Type::float32, of_step(model.target_vocabulary()));
  std::string s = it.embedded("target_embedding.weight"), context;
  if (options.attention == Score::none) context = it.input("context", of_step(H));
  const std::string fed = options.input_feeding ? it.input("readout", of_step(R)) : context;
  if (!fed.empty()) s = it.node("Concat", {s, fed}, "fed", along_units);
  for (std::int64_t i = 0; i < options.decoder_layers; ++i) s = it.layer(s, "decoder.", i, H);
  if (options.attention != Score::none) {
    const std::string states = it.input("states", of_all_steps), W_a = "attention.W_a";
    std::string scores;  // [S, B, 1], of a query [1, B, H] for each state or key [S, B, H]
    if (options.attention == Score::additive) {
      const std::string keys = it.input("keys", of_all_steps),
                        query = it.product(s, "query", it.constant(W_a)),
                        both = it.node("Tanh", {it.node("Add", {query, keys}, "sums")}, "both");
      scores = it.product(both, "scores", it.constant("attention.v_a"));
    } else {
      const bool is_dot = options.attention == Score::dot;
      const std::string query = is_dot ? s : it.node("MatMul", {s, it.constant(W_a)}, "query"),
                        products = it.node("Mul", {query, states}, "products");
      scores = it.node("ReduceSum", {products, it.constant("units", {-1})}, "scores");
    }
    const std::string weights = it.node("Softmax", {scores}, "weights", {{"axis", std::int64_t{0}}}),
                      weighted = it.node("Mul", {weights, states}, "weighted");
    context = it.node("ReduceSum", {weighted, it.constant("steps", {0})}, "mean");
  }
  const std::string seen = it.node("Concat", {context, s}, "seen", along_units),
                    readout = it.node("Tanh", {it.product(seen, "W_c", it.constant("W_c"))}, "r");
  if (options.input_feeding) it.output(readout, "next_readout", of_step(R));
  const char* const tied = options.tied == TiedTables::none ? "" : "target_embedding.weight";
  it.node("LogSoftmax", {it.linear(readout, "output", tied)}, "log_probabilities", along_units);
  return std::move(it.graph);
}

}  // namespace rondo
