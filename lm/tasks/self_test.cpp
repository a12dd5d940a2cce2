// A test of the model before it is trained.
#include "lm/tasks/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "tensor/random.h"

namespace rondo {
namespace {

constexpr int64_t T = 4, B = 2;  // of what is read

/// Those of the named tensors whose gradient is zero.
std::vector<std::string> without_gradient(const Module& model, const std::vector<std::string>& names) {
  std::vector<std::string> missed;
  for (const Segment& segment : model.segments()) {
    if (std::find(names.begin(), names.end(), segment.name) == names.end()) continue;
    const std::vector<real> gradient = part_of(model.gradients(), segment).to_vector();
    const auto is_zero = [](real x) { return x == 0; };
    if (std::all_of(gradient.begin(), gradient.end(), is_zero)) missed.push_back(segment.name);
  }
  return missed;
}

/// Throws unless `add_gradients`, which adds the gradients of a loss, reaches all tensors; with weight
/// drop, once more in training the recurrent weights. Tensors that `is_trained` refuses need no gradient.
void check_reaches_all(
    Module& model, const std::vector<Cell*>& cells, bool weight_drop,
    const std::function<void()>& add_gradients,
    const std::function<bool(const std::string&)>& is_trained = [](const std::string&) { return true; }) {
  const EvaluationMode mode(model);
  std::vector<std::string> all, recurrent;
  for (const Segment& segment : model.segments())
    if (is_trained(segment.name)) all.push_back(segment.name);
  for (const Cell* cell : cells)
    for (const Recurrent* it : cell->recurrent_weights()) recurrent.push_back(it->weight.name());
  fill(model.gradients(), 0);
  add_gradients();
  std::vector<std::string> missed = without_gradient(model, all);
  if (missed.empty() && weight_drop) {
    // With weight drop the gradient flows through another tensor. Several draws, since one may drop all of a
    // tiny weight.
    fill(model.gradients(), 0);
    model.set_training(true);
    model.set_statistics_rate({});
    constexpr uint64_t draws = 8;
    missed = recurrent;
    for (uint64_t draw = 0; draw < draws && !missed.empty(); ++draw) {
      model.begin_update({.seed = 1, .update = draw, .slice = {B, 0, B}});
      add_gradients();
      missed = without_gradient(model, recurrent);
    }
  }
  fill(model.gradients(), 0);
  model.values().storage().packs.clear();  // for products of few rows, which a training may not have
  check(missed.empty(),
        "no gradient reaches {}: training would leave {} as {}. A cell that does not use all its weights, or "
        "initial values that are all 0, are the usual causes",
        fmt::join(missed, ", "), missed.size() == 1 ? "it" : "them",
        missed.size() == 1 ? "it is" : "they are");
}

/// States as after a few symbols: between -1 and 1, without a pattern. Trained initial states get their
/// gradient as well.
std::vector<State> some_states(const LanguageModel& model) {
  std::vector<State> states;
  uint32_t draw = 0;
  for (const State& state : model.initial_states(B))
    states.push_back(state.map([&](const Variable& x) -> Variable {
      const Tensor drawn(x.shape());
      fill_uniform(drawn, {.seed = 1, .name = hash_of("self_test"), .draw = draw++}, real(-0.9), real(0.9));
      return x + Variable(drawn.to(x.value().device()));
    }));
  return states;
}

/// T B of the V symbols: 0, step, 2 step, ...
Tokens some_tokens(int64_t V, int64_t step) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < T * B; ++i) ids.push_back(static_cast<int32_t>((step * i + step / 2) % V));
  return tokens(std::move(ids));
}

void add_gradients(EncoderDecoder& model) {
  const int64_t source_symbols = model.source_vocabulary(), V = model.target_vocabulary();
  const Tokens source_ids = source_symbols > 0 ? some_tokens(source_symbols, 1) : Tokens();
  const auto source = model.encode({source_ids, T, B});
  const auto output = model.decode({some_tokens(V, 1), T, B}, source);
  model.cross_entropy(output.readout, some_tokens(V, 3)).total.backward();
}

}  // namespace

void check_gradients_reach_all(LanguageModel& model) {
  const int64_t V = model.vocabulary_size();
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0, [&] {
    const auto [output, after] = model.forward({some_tokens(V, 1), T, B}, some_states(model));
    Variable loss = model.cross_entropy(output, some_tokens(V, 3)).total;
    for (const int64_t begin : model.options().adaptive.cutoffs)  // no cluster is without targets
      loss =
          loss + model.cross_entropy(output, tokens(std::vector(T * B, static_cast<int32_t>(begin)))).total;
    loss.backward();
  });
}

void check_gradients_reach_all(EncoderDecoder& model) {
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0,
                    [&] { add_gradients(model); });
}

void check_gradients_reach_all(SharedEncoderDecoders& model) {
  const std::vector<Route>& routes = model.routes();
  std::set<Cell*> cells;
  for (size_t i = 0; i < routes.size(); ++i)
    for (Cell* cell : model.at(i).cells()) cells.insert(cell);
  // Where a language is written without a source only, nothing trains its bridge and its attention.
  const auto has_source = [&](const std::string& language) {
    return std::any_of(routes.begin(), routes.end(),
                       [&](const Route& it) { return it.target == language && !it.source.empty(); });
  };
  const auto is_trained = [&](const std::string& name) {
    return std::none_of(routes.begin(), routes.end(), [&](const Route& it) {
      return !has_source(it.target) &&
             (name.starts_with(it.target + ".bridge.") || name.starts_with(it.target + ".attention."));
    });
  };
  check_reaches_all(
      model, {cells.begin(), cells.end()}, model.at(0).options().regularization.weight_drop > 0,
      [&] {
        for (size_t i = 0; i < routes.size(); ++i) add_gradients(model.at(i));
      },
      is_trained);
}

void check_gradients_reach_all(SentenceClassifier& model) {
  const bool bidirectional = model.options().bidirectional;
  // A maximum passes on the gradient of the largest state only: of few units and sentences that may be the
  // first one, before which nothing is recurrent. The mean needs the same tensors.
  const Summary summary = model.options().summary == Summary::max ? Summary::mean : model.options().summary;
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0, [&] {
    const auto states = model.states({some_tokens(model.vocabulary(), 1), T, B});
    model.cross_entropy(summarized(summary, states, bidirectional, {}), tokens({0, 1})).total.backward();
  });
}

void check_gradients_reach_all(AttentiveReader& model) {
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0, [&] {
    const AttentiveReader::Output output =
        model({some_tokens(model.vocabulary(), 1), T, B}, {some_tokens(model.vocabulary(), 3), T, B});
    model.cross_entropy(output.joint, tokens({0, 1})).total.backward();
  });
}

void check_gradients_reach_all(SkipThought& model) {
  const int64_t V = model.vocabulary();
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0, [&] {
    for (const auto& part : model.parts())
      for (RecurrentStack* decoder : {&part->previous, &part->next}) {
        const Variable vectors = part->encode({some_tokens(V, 1), T, B});
        const Variable states = part->decode(*decoder, {some_tokens(V, 1), T, B}, vectors);
        part->cross_entropy(states, some_tokens(V, 3)).total.backward();
      }
  });
}

void check_gradients_reach_all(CtcModel& model) {
  const int64_t F = model.width();
  const Tensor drawn({T, B, F});
  fill_uniform(drawn, {.seed = 1, .name = hash_of("self_test"), .draw = 0}, real(-1), real(1));
  const Variable frames = drawn.to(model.device());
  check_reaches_all(model, model.cells(), model.options().regularization.weight_drop > 0, [&] {
    sum(ctc_loss(model.scores(frames, {T, T}), CtcTargets({{1}, {1}}, {T, T}))).backward();
  });
}

}  // namespace rondo
