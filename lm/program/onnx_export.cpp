// Models as graphs of ONNX's operators.
#include "lm/program/onnx_export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lm/training/checkpoint.h"
#include "nn/cells/rnn.h"

namespace rondo {
namespace {

/// The operator of ONNX that computes what a cell does.
struct Counterpart {
  std::string cell, onnx;
  std::vector<std::size_t> gates;  // in ONNX's order: their indices here
  bool resets_after = false;       // a GRU
};

const std::vector<Counterpart> counterparts = {
    {"rnn", "RNN", {0}},
    {"lstm", "LSTM", {0, 3, 1, 2}},  // i o f c of i f g o
    {"gru", "GRU", {1, 0, 2}},       // z r h of r z n
    {"gru_reset_after", "GRU", {1, 0, 2}, true},
};

using Extents = std::vector<OnnxGraph::Extent>;
constexpr std::int64_t one = 1;

/// What the graphs of all models have in common. Their names of parameters are the model's.
class GraphWriter {
 public:
  GraphWriter(const Module& model, const RecurrentOptions& options)
      : cell_(*std::ranges::find(counterparts, options.cell, &Counterpart::cell)),
        model_(model),
        has_relu_(has_relu(options)) {}

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

  /// A tensor that the graph returns under a name of its own.
  void output(const std::string& tensor, const std::string& name, const Extents& shape) {
    graph.add_output(name, OnnxGraph::Type::float32, shape);
    node("Identity", {tensor}, name);
  }

  /// A parameter as it is.
  std::string constant(const std::string& name) {
    const std::vector<float> numbers = numbers_of(name);
    graph.add_constant(name, extents(parameter_named(model_, name).value().shape()), numbers);
    return name;
  }

  /// Whole numbers, as operators want them for axes and shapes.
  std::string constant(const std::string& name, const std::vector<std::int64_t>& numbers) {
    graph.add_constant(name, {std::ssize(numbers)}, numbers);
    return name;
  }

  /// The vectors of symbols, [T, B, E].
  std::string embedded(const std::string& table) {
    return node("Gather", {constant(table), "ids"}, "embedded");
  }

  /// x W^T.
  std::string product(const std::string& x, const std::string& name, const std::string& weight) {
    const std::string transposed =
        node("Transpose", {weight}, name + ".transposed", {{"perm", std::vector<std::int64_t>{1, 0}}});
    return node("MatMul", {x, transposed}, name + ".product");
  }

  /// x W^T + b, with the bias `name`.bias.
  std::string linear(const std::string& x, const std::string& name, const std::string& weight) {
    return node("Add", {product(x, name, weight), constant(name + ".bias")}, name + ".output");
  }

  /// Adds the output log_probabilities of a layer `name`.
  void add_log_probabilities(const std::string& x, const std::string& name, const std::string& weight) {
    graph.add_node("LogSoftmax", {linear(x, name, weight)}, {"log_probabilities"},
                   {{"axis", std::int64_t{-1}}});
  }

  /// Layer i of the stack that is named "`stack`": x [T, B, I] to [T, D, B, H], where D directions have H
  /// units each. If it is continued, it begins with inputs h_li and c_li of the graph, and next_h_li and
  /// next_c_li are outputs; else it begins with zeros, and `stack`h_li, `stack`c_li [D, B, H] are the states
  /// after all steps.
  std::string layer(const std::string& x, const std::string& stack, std::int64_t i, std::int64_t H,
                    bool is_continued, std::int64_t D = 1) {
    const std::string suffix = fmt::format("_l{}", i);
    const auto G = static_cast<std::int64_t>(cell_.gates.size());
    const std::vector<std::string> suffixes{suffix, suffix + "_reverse"};
    const auto of_directions = std::span(suffixes).first(static_cast<std::size_t>(D));
    const auto weight = [&](const std::string& name) {
      std::vector<float> stacked;
      for (const std::string& it : of_directions)
        append_in_onnx_order(stacked, numbers_of(stack + name + it));
      const std::int64_t rows = G * H;
      graph.add_constant(stack + name + suffix, {D, rows, std::ssize(stacked) / (D * rows)}, stacked);
      return stack + name + suffix;
    };
    std::vector<float> biases;  // of the input, then of the recurrence; zeros for one that is absent
    for (const std::string& it : of_directions)
      for (const char* name : {"bias_ih", "bias_hh"}) {
        std::vector<float> bias = numbers_of(stack + name + it);
        bias.resize(static_cast<std::size_t>(G * H));
        append_in_onnx_order(biases, bias);
      }
    graph.add_constant(stack + "bias" + suffix, {D, 2 * G * H}, biases);

    std::vector<std::string> inputs = {x, weight("weight_ih"), weight("weight_hh"), stack + "bias" + suffix,
                                       ""},
                             outputs = {stack + "sequence" + suffix};
    const Extents extents_of_state{one, "B", H};
    for (const char state : states()) {
      const std::string name = state + suffix;
      outputs.push_back((is_continued ? "next_" : stack) + name);
      if (!is_continued) continue;
      inputs.push_back(input(name, extents_of_state));
      graph.add_output(outputs.back(), OnnxGraph::Type::float32, extents_of_state);
    }
    OnnxGraph::Attributes attributes{{"hidden_size", H}};
    if (D == 2) attributes.emplace_back("direction", "bidirectional");
    if (has_relu_)
      attributes.emplace_back("activations", std::vector<std::string>(of_directions.size(), "Relu"));
    if (cell_.onnx == "GRU") attributes.emplace_back("linear_before_reset", std::int64_t{cell_.resets_after});
    graph.add_node(cell_.onnx, inputs, outputs, attributes);
    return outputs.front();
  }

  /// A layer in one direction that is continued: x [T, B, I] to [T, B, H].
  std::string continued_layer(const std::string& x, const std::string& stack, std::int64_t i,
                              std::int64_t H) {
    const std::string sequence = layer(x, stack, i, H, true);
    if (i == 0) constant("directions", {1});  // the axis of directions, of which there is one
    return node("Squeeze", {sequence, "directions"}, fmt::format("{}output_l{}", stack, i));
  }

  /// The states of a layer: h, and c of an LSTM.
  std::string states() const { return cell_.onnx == "LSTM" ? "hc" : "h"; }

 private:
  /// The numbers of a parameter; none if the model does not have it.
  std::vector<float> numbers_of(const std::string& name) const {
    const std::optional<Tensor> values = parameter_named(model_, name);
    const std::vector<real> numbers = values ? values->to_vector() : std::vector<real>();
    return {numbers.begin(), numbers.end()};
  }

  /// Appends rows of gates of H units each.
  void append_in_onnx_order(std::vector<float>& to, const std::vector<float>& stacked) const {
    const auto size = static_cast<std::ptrdiff_t>(stacked.size() / cell_.gates.size());
    for (const std::size_t gate : cell_.gates) {
      const auto begin = stacked.begin() + static_cast<std::ptrdiff_t>(gate) * size;
      to.insert(to.end(), begin, begin + size);
    }
  }

  const Counterpart& cell_;
  const Module& model_;
  bool has_relu_;
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
  GraphWriter it(model, options);
  it.graph.add_input("ids", OnnxGraph::Type::int64, {"T", "B"});
  it.graph.add_output("log_probabilities", OnnxGraph::Type::float32, {"T", "B", V});
  const auto one_hot = [&] {  // of a model without an embedding: zeros with a 1
    it.constant("vocabulary_size", {V});
    const std::vector<float> off_and_on{0, 1};
    it.graph.add_constant("off_and_on", {2}, off_and_on);
    return it.node("OneHot", {"ids", "vocabulary_size", "off_and_on"}, "embedded");
  };
  std::string x = options.embedding > 0 ? it.embedded("embedding.weight") : one_hot();
  for (std::int64_t i = 0; i < std::ssize(options.hidden); ++i)
    x = it.continued_layer(x, "rnn.", i, options.hidden[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < options.output_layers.size(); ++i) {
    const std::string name = fmt::format("output_layer_{}", i);
    x = it.linear(x, name, it.constant(name + ".weight"));
    if (options.output_activation == OutputActivation::tanh) x = it.node("Tanh", {x}, name + "_activation");
  }
  it.add_log_probabilities(x, "decoder", options.tied ? "embedding.weight" : it.constant("decoder.weight"));
  return std::move(it.graph);
}

OnnxGraph encoder_graph(const EncoderDecoder& model) {
  const EncoderDecoderOptions& options = model.options();
  const std::int64_t H = options.hidden, directions = options.bidirectional ? 2 : 1;
  GraphWriter it(model, options);
  // Makes [.., D, B, H / D] to [.., B, H], the directions side by side.
  const auto beside = [&](const std::string& x, const std::vector<std::int64_t>& order,
                          const std::vector<std::int64_t>& shape) {
    return it.node(
        "Reshape",
        {it.node("Transpose", {x}, x + ".by_row", {{"perm", order}}), it.constant(x + ".shape", shape)},
        x + ".beside");
  };
  const Extents of_a_step{one, "B", H}, of_all_steps{"S", "B", H};
  it.graph.add_input("ids", OnnxGraph::Type::int64, {"S", "B"});
  std::string h =
      it.embedded(options.tied == TiedTables::all ? "target_embedding.weight" : "source_embedding.weight");
  for (std::int64_t i = 0; i < options.encoder_layers; ++i) {
    h = beside(it.layer(h, "encoder.", i, H / directions, false, directions), {0, 2, 1, 3}, {0, -1, H});
    for (const char state : it.states())
      beside(fmt::format("encoder.{}_l{}", state, i), {1, 0, 2}, {1, -1, H});
  }
  const auto last = [&](char state, std::int64_t layer) {
    return fmt::format("encoder.{}_l{}.beside", state, std::min(layer, options.encoder_layers - 1));
  };
  for (std::int64_t i = 0; options.bridge != Bridge::zeros && i < options.decoder_layers; ++i)
    for (const char state : it.states()) {
      const std::string name = fmt::format("{}_l{}", state, i), bridge = "bridge." + name;
      std::string first = last(state, i);
      if (options.bridge == Bridge::linear)
        first = it.node("Tanh", {it.linear(first, bridge, it.constant(bridge + ".weight"))}, bridge);
      it.output(first, name, of_a_step);
    }
  if (options.attention == Score::none)
    it.output(last('h', options.encoder_layers), "context", of_a_step);
  else
    it.output(h, "states", of_all_steps);
  const std::string keys = options.attention == Score::general ? "attention.W_a" : "attention.U_a";
  if (options.attention == Score::general || options.attention == Score::additive)
    it.output(it.product(h, keys, it.constant(keys)), "keys", of_all_steps);
  return std::move(it.graph);
}

OnnxGraph decoder_graph(const EncoderDecoder& model) {
  const EncoderDecoderOptions& options = model.options();
  const std::int64_t H = options.hidden, R = options.readout_width();
  const bool is_fixed = options.attention == Score::none, is_additive = options.attention == Score::additive;
  GraphWriter it(model, options);
  const auto joined = [&](const std::string& a, const std::string& b, const std::string& name) {
    return it.node("Concat", {a, b}, name, {{"axis", std::int64_t{-1}}});
  };
  const Extents of_a_step{one, "B", H}, of_all_steps{"S", "B", H}, of_readout{one, "B", R};
  it.graph.add_input("ids", OnnxGraph::Type::int64, {one, "B"});
  it.graph.add_output("log_probabilities", OnnxGraph::Type::float32, {one, "B", model.target_vocabulary()});
  std::string s = it.embedded("target_embedding.weight"), context;
  if (options.input_feeding) s = joined(s, it.input("readout", of_readout), "fed");
  if (is_fixed) s = joined(s, context = it.input("context", of_a_step), "fed");
  for (std::int64_t i = 0; i < options.decoder_layers; ++i) s = it.continued_layer(s, "decoder.", i, H);
  if (!is_fixed) {  // the queries [1, B, H] are repeated for the S states, and the weights [S, B, 1] for H
                    // units
    const std::string states = it.input("states", of_all_steps),
                      keys = options.attention == Score::dot ? states : it.input("keys", of_all_steps);
    const std::string scores =
        is_additive
            ? it.product(it.node("Tanh",
                                 {it.node("Add", {it.product(s, "query", it.constant("attention.W_a")), keys},
                                          "both")},
                                 "bounded"),
                         "scores", it.constant("attention.v_a"))
            : it.node("ReduceSum", {it.node("Mul", {s, keys}, "products"), it.constant("units", {2})},
                      "scores");
    const std::string weights = it.node("Softmax", {scores}, "weights", {{"axis", std::int64_t{0}}});
    context = it.node("ReduceSum", {it.node("Mul", {weights, states}, "weighted"), it.constant("steps", {0})},
                      "attended");
  }
  const std::string seen = joined(context, s, "context_and_state"),
                    readout = it.node("Tanh", {it.product(seen, "W_c", it.constant("W_c"))}, "r");
  if (options.input_feeding) it.output(readout, "next_readout", of_readout);
  const bool is_tied = options.tied != TiedTables::none;
  it.add_log_probabilities(readout, "output",
                           is_tied ? "target_embedding.weight" : it.constant("output.weight"));
  return std::move(it.graph);
}

}  // namespace rondo
