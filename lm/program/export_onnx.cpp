// A language model as a graph of ONNX's operators (onnx.ai/onnx/operators): RNN, LSTM and GRU, whose gates
// have another order, and for the rest Gather, MatMul, Add, LogSoftmax. See lm/program/export.h.
#include "data/onnx.h"
#include "lm/program/export.h"
#include "lm/program/version.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

class Exporter {
 public:
  Exporter(const LanguageModel& model, const Counterpart& cell) : model_(model), cell_(cell) {}

  OnnxGraph graph() {
    const LanguageModelOptions& options = model_.options();
    const std::int64_t V = model_.vocabulary_size();
    graph_.add_input("ids", OnnxGraph::Type::int64, {"T", "B"});
    graph_.add_output("log_probabilities", OnnxGraph::Type::float32, {"T", "B", V});
    std::string x = embedded("ids");
    for (std::size_t i = 0; i < options.hidden.size(); ++i) x = layer(x, i, options.hidden[i]);
    for (std::size_t i = 0; i < options.output_layers.size(); ++i) {
      const std::string name = fmt::format("output_layer_{}", i);
      x = linear(x, name, constant(name + ".weight"));
      if (options.output_activation == OutputActivation::tanh) x = node("Tanh", {x}, name + "_activation");
    }
    const std::string weight = options.tied ? "embedding.weight" : constant("decoder.weight");
    graph_.add_node("LogSoftmax", {linear(x, "decoder", weight)}, {"log_probabilities"},
                    {{"axis", std::int64_t{-1}}});
    return std::move(graph_);
  }

 private:
  /// A node with one output, which is named `output`.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   const OnnxGraph::Attributes& attributes = {}) {
    graph_.add_node(op, inputs, {output}, attributes);
    return output;
  }

  /// The numbers of a parameter; none if the model does not have it.
  std::vector<float> numbers_of(const std::string& name, std::vector<std::int64_t>* shape = nullptr) const {
    const std::optional<Tensor> values = parameter_named(model_, name);
    if (!values) return {};
    if (shape) *shape = extents(values->shape());
    const std::vector<real> numbers = values->to_vector();
    return {numbers.begin(), numbers.end()};
  }

  /// A parameter as it is.
  std::string constant(const std::string& name) {
    std::vector<std::int64_t> shape;
    const std::vector<float> numbers = numbers_of(name, &shape);
    graph_.add_constant(name, shape, numbers);
    return name;
  }

  /// The vectors of symbols, [T, B, E]; without an embedding zeros with a 1.
  std::string embedded(const std::string& ids) {
    if (model_.options().embedding > 0)
      return node("Gather", {constant("embedding.weight"), ids}, "embedded");
    const std::vector<std::int64_t> depth{model_.vocabulary_size()};
    const std::vector<float> off_and_on{0, 1};
    graph_.add_constant("vocabulary_size", {1}, depth);
    graph_.add_constant("off_and_on", {2}, off_and_on);
    return node("OneHot", {ids, "vocabulary_size", "off_and_on"}, "embedded");
  }

  /// x W^T + b, with the bias `name`.bias.
  std::string linear(const std::string& x, const std::string& name, const std::string& weight) {
    const std::string transposed =
        node("Transpose", {weight}, name + ".transposed", {{"perm", std::vector<std::int64_t>{1, 0}}});
    return node("Add", {node("MatMul", {x, transposed}, name + ".product"), constant(name + ".bias")},
                name + ".output");
  }

  /// Rows of gates of H units each, in ONNX's order.
  std::vector<float> in_onnx_order(const std::vector<float>& stacked) const {
    const auto size = static_cast<std::ptrdiff_t>(stacked.size() / cell_.gates.size());
    std::vector<float> ordered;
    for (const std::size_t gate : cell_.gates) {
      const auto begin = stacked.begin() + static_cast<std::ptrdiff_t>(gate) * size;
      ordered.insert(ordered.end(), begin, begin + size);
    }
    return ordered;
  }

  /// A recurrent layer: x [T, B, I] to [T, B, H].
  std::string layer(const std::string& x, std::size_t i, std::int64_t H) {
    const std::string suffix = fmt::format("_l{}", i), rnn = "rnn.";
    const auto G = static_cast<std::int64_t>(cell_.gates.size());
    const auto weight = [&](const std::string& name) {
      const std::vector<float> stacked = in_onnx_order(numbers_of(rnn + name + suffix));
      const std::int64_t rows = G * H;
      graph_.add_constant(rnn + name + suffix, {1, rows, std::ssize(stacked) / rows}, stacked);
      return rnn + name + suffix;
    };
    std::vector<float> biases;  // of the input, then of the recurrence; zeros for one that is absent
    for (const char* name : {"bias_ih", "bias_hh"}) {
      std::vector<float> bias = in_onnx_order(numbers_of(rnn + name + suffix));
      bias.resize(static_cast<std::size_t>(G * H));
      biases.insert(biases.end(), bias.begin(), bias.end());
    }
    graph_.add_constant(rnn + "bias" + suffix, {1, 2 * G * H}, biases);

    const bool has_c = cell_.onnx == "LSTM";
    std::vector<std::string> inputs = {x,  weight("weight_ih"), weight("weight_hh"), rnn + "bias" + suffix,
                                       "", "h" + suffix},
                             outputs = {rnn + "sequence" + suffix, "next_h" + suffix};
    if (has_c) {
      inputs.push_back("c" + suffix);
      outputs.push_back("next_c" + suffix);
    }
    const std::vector<OnnxGraph::Extent> state{std::int64_t{1}, "B", H};
    for (std::size_t j = 5; j < inputs.size(); ++j)
      graph_.add_input(inputs[j], OnnxGraph::Type::float32, state);
    for (std::size_t j = 1; j < outputs.size(); ++j)
      graph_.add_output(outputs[j], OnnxGraph::Type::float32, state);
    OnnxGraph::Attributes attributes{{"hidden_size", H}};
    if (cell_.onnx == "GRU") attributes.emplace_back("linear_before_reset", std::int64_t{cell_.resets_after});
    graph_.add_node(cell_.onnx, inputs, outputs, attributes);
    if (i == 0) {
      const std::vector<std::int64_t> axis{1};  // of directions, of which there is one
      graph_.add_constant("directions", {1}, axis);
    }
    return node("Squeeze", {outputs.front(), "directions"}, rnn + "output" + suffix);
  }

  const LanguageModel& model_;
  const Counterpart& cell_;
  OnnxGraph graph_;
};

}  // namespace

void write_onnx(const std::filesystem::path& path, const LanguageModel& model, const Counterpart& cell) {
  Exporter(model, cell).graph().write(path, version());
}

}  // namespace rondo
