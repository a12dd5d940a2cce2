// The list of cells.
#include "nn/cells/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "nn/cells/batch_norm.h"
#include "nn/cells/convolution.h"
#include "nn/cells/deep_transition.h"
#include "nn/cells/fast_slow_lstm.h"
#include "nn/cells/gru.h"
#include "nn/cells/layer_norm.h"
#include "nn/cells/lstm.h"
#include "nn/cells/minimal.h"
#include "nn/cells/mogrifier.h"
#include "nn/cells/multiplicative.h"
#include "nn/cells/multiplicative_integration.h"
#include "nn/cells/quasi_recurrent.h"
#include "nn/cells/real_gated_linear_unit.h"
#include "nn/cells/recurrent_highway.h"
#include "nn/cells/rnn.h"
#include "nn/cells/scalar_lstm.h"
#include "nn/cells/simple_recurrent_unit.h"

namespace rondo {
namespace {

/// One line for each of Rondo's cells; add_cell() appends others.
std::vector<CatalogueEntry>& catalogue() {
  static std::vector<CatalogueEntry> cells = {
      make_entry<Rnn<Sum, PreviousState, TanhOrRelu>>("rnn", "simple recurrent network, Elman 1990"),
      make_entry<Rnn<Sum, PreviousState, Identity>>("linear_rnn",
                                                    "the same with the identity instead of tanh"),
      make_entry<Lstm<>>("lstm", "long short-term memory, Hochreiter & Schmidhuber 1997"),
      make_entry<Lstm<Sum, PreviousState, LstmGatesSigmoid>>(
          "lstm_sigmoid", "the same with a sigmoid as output activation, Maupome & Meurs (7)"),
      make_entry<Gru<>>("gru", "gated recurrent unit, Cho et al. 2014"),
      make_entry<GruWithResetAfter>(
          "gru_reset_after", "the same with the reset after the product, as PyTorch and cuDNN have it"),
      make_entry<MinimalGatedUnit>("mgu", "minimal gated unit, Zhou et al. 2016"),
      make_entry<TensorRnn>("trnn", "tensor RNN: a matrix for each symbol, Sutskever et al. 2011"),
      make_entry<Rnn<Sum, IntermediateState>>("mrnn", "multiplicative RNN, Sutskever et al. 2011"),
      make_entry<Lstm<Sum, IntermediateState>>("mlstm", "multiplicative LSTM, Krause et al. 2016"),
      make_entry<TrueMultiplicativeLstm>(
          "tmlstm", "true multiplicative LSTM: an intermediate state for each gate, Maupome & Meurs"),
      make_entry<Gru<Sum, IntermediateState>>("mgru", "multiplicative GRU, Maupome & Meurs"),
      make_entry<TrueMultiplicativeGru>(
          "tmgru", "true multiplicative GRU: an intermediate state for each gate, Maupome & Meurs"),
      make_entry<Rnn<Integration>>("mi_rnn", "RNN with multiplicative integration, Wu et al. 2016"),
      make_entry<Rnn<Product>>("mi_rnn_simple", "the same with the product alone"),
      make_entry<Rnn<Integration, PreviousState, Identity>>("linear_mi_rnn",
                                                            "mi_rnn with the identity instead of tanh"),
      make_entry<Lstm<Integration>>("mi_lstm", "LSTM with multiplicative integration, Wu et al. 2016"),
      make_entry<Gru<Integration>>("mi_gru", "GRU with multiplicative integration, Wu et al. 2016"),
      make_entry<DeepTransitionRnn>("dt_rnn", "deep-transition RNN, Pascanu et al. 2013"),
      make_entry<DeepTransitionRnnWithShortcut>("dts_rnn", "the same with a shortcut, DT(S)-RNN"),
      make_entry<Lstm<Sum, DeepTransition>>(
          "dt_lstm", "LSTM whose gates read a deep transition of the state, after Pascanu et al. 2013"),
      make_entry<Gru<Sum, DeepTransition>>(
          "dt_gru", "GRU whose gates read a deep transition of the state, after Pascanu et al. 2013"),
      make_entry<Lstm<BatchNormSum>>(
          "bn_lstm", "batch-normalised LSTM, statistics for each time step, Cooijmans et al. 2016"),
      make_entry<Lstm<BatchNormIntegration>>("bn_mi_lstm",
                                             "the same with multiplicative integration, Wu et al. 2016"),
      make_entry<Lstm<LayerNormSum>>("ln_lstm", "layer-normalised LSTM, Ba et al. 2016"),
      make_entry<LayerNormGru>("ln_gru", "layer-normalised GRU, Ba et al. 2016"),
      make_entry<Lstm<Sum, Mogrifier>>(
          "mogrifier_lstm", "LSTM whose input and state scale each other first, Melis et al. 2020"),
      make_entry<Gru<Sum, Mogrifier>>(
          "mogrifier_gru", "GRU whose input and state scale each other first, after Melis et al. 2020"),
      make_entry<RecurrentHighwayNetwork>("rhn", "recurrent highway network, Zilly et al. 2017"),
      make_entry<SimpleRecurrentUnit>("sru", "simple recurrent unit, Lei et al. 2018"),
      make_entry<QuasiRecurrentNetwork>("qrnn", "quasi-recurrent network, Bradbury et al. 2017"),
      make_entry<FastSlowLstm>("fs_lstm", "fast-slow LSTM, Mujika et al. 2017"),
      make_entry<MinimalGru>("min_gru", "minimal GRU, Feng et al. 2024"),
      make_entry<MinimalLstm>("min_lstm", "minimal LSTM, Feng et al. 2024"),
      make_entry<RealGatedLinearUnit>("rg_lru", "real-gated linear recurrent unit, De et al. 2024"),
      make_entry<Convolution>("convolution", "short convolution of each unit over time, De et al. 2024"),
      make_entry<ScalarLstm>("slstm", "LSTM with exponential gates, Beck et al. 2024"),
  };
  return cells;
}

const CatalogueEntry& find_cell(const std::string& name) {
  for (const CatalogueEntry& cell : catalogue())
    if (name == cell.name) return cell;
  throw InputError(
      fmt::format("there is no cell '{}'; the cells are {}", name, fmt::join(cell_names(), ", ")));
}

/// The key of this name; null if there is none.
Key* find_key(Keys& keys, const std::string& name) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}

std::string cells_with(const std::string& key) {
  std::vector<std::string> names;
  for (const CatalogueEntry& cell : catalogue()) {
    CellSettings settings;
    Keys keys = keys_of(settings, cell.name);
    if (find_key(keys, key)) names.push_back(cell.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A value as --set takes it.
std::string value_text(const Member& member) {
  return std::visit(
      []<class It>(const It& it) {
        if constexpr (std::is_same_v<It, std::optional<double>*>) {
          return fmt::format("{}", it->value_or(not_given));
        } else if constexpr (std::is_same_v<It, ChoiceMember>) {
          return it.names[it.get()];
        } else {
          return fmt::format("{}", *it);
        }
      },
      member);
}

}  // namespace

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& cell : catalogue()) names.push_back(cell.name);
  return names;
}

std::unique_ptr<Cell> make_cell(const std::string& name, Module& parent, const std::string& suffix,
                                const CellOptions& options) {
  return find_cell(name).make(parent, suffix, options);
}

CellTraits traits_of(const std::string& name) {
  Module root;
  const auto cell = make_cell(name, root, "", pytorch_cell(1, 1));
  return {cell->has_cell_state(), !cell->recurrent_weights().empty(), cell->reads_h(),
          cell->looks_across_rows(), cell->carries_h()};
}

Keys keys_of(CellSettings& settings) {
  Keys all;
  for (const CatalogueEntry& cell : catalogue())
    for (Key& key : keys_of(settings, cell.name)) {
      if (Key* known = find_key(all, key.name)) {
        known->doc += ", " + cell.name;
      } else {
        key.doc += "; of " + cell.name;
        all.push_back(std::move(key));
      }
    }
  return all;
}

void check_settings(const std::string& name, const CellSettings& settings, const std::string& section) {
  CellSettings given = settings, defaults;
  Keys own = keys_of(given, name);
  const Keys of_given = keys_of(given), of_defaults = keys_of(defaults);
  for (size_t i = 0; i < of_given.size(); ++i) {
    const std::string& key = of_given[i].name;
    const std::string unset = value_text(of_defaults[i].member);
    if (find_key(own, key) || value_text(of_given[i].member) == unset) continue;
    throw InputError(fmt::format(
        "{}{} is for {}, and {}cell = \"{}\" has nothing of the kind: set it to its default, --set {}{}={}",
        section, key, cells_with(key), section, name, section, key, unset));
  }
  Module root;
  CellOptions options = pytorch_cell(1, 1);
  options.settings = settings;
  find_cell(name).make(root, "", options);
}

std::string description_of(const std::string& cell) { return find_cell(cell).description; }

Keys keys_of(CellSettings& settings, const std::string& cell) {
  Keys keys;
  for (const SettingsKind& kind : find_cell(cell).settings)
    for (Key& key : kind.keys(settings)) keys.push_back(std::move(key));
  return keys;
}

void add_cell(CatalogueEntry entry) {
  for (const CatalogueEntry& known : catalogue()) {
    check(entry.name != known.name, "[add_cell] '{}' is known already", entry.name);
    for (const SettingsKind& kind : entry.settings)
      for (const SettingsKind& other : known.settings) {
        CellSettings its, added;
        Keys taken = other.keys(its);
        for (const Key& key : kind.keys(added))
          check(kind.type == other.type || !find_key(taken, key.name),
                "[add_cell] the key '{}' of '{}' is another cell's", key.name, entry.name);
      }
  }
  catalogue().push_back(std::move(entry));
}

}  // namespace rondo
