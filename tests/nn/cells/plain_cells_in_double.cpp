// Plain loops.
#include "tests/nn/cells/plain_cells.h"

#include <cmath>

namespace rondo {
namespace {

Number s(Number x) { return 1.0 / (1.0 + std::exp(-x)); }

PlainState rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = std::tanh(layer.Wx(0, j, x) + layer.Uh(0, j, h));
  return {next, {}};
}

/// From the pre-activations z(gate, j).
template <bool sigmoid_output>
PlainState lstm_of(const std::function<Number(int64_t, int64_t)>& z, const Vector& c) {
  const int64_t hidden = std::ssize(c);
  Vector next_h(hidden), next_c(hidden);
  for (int64_t j = 0; j < hidden; ++j) {
    const Number i = s(z(0, j)), f = s(z(1, j)), g = std::tanh(z(2, j)), o = s(z(3, j));
    next_c[j] = f * c[j] + i * g;
    next_h[j] = o * (sigmoid_output ? s(next_c[j]) : std::tanh(next_c[j]));
  }
  return {next_h, next_c};
}

template <bool sigmoid_output>
PlainState lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c, const Vector&) {
  return lstm_of<sigmoid_output>(
      [&](int64_t gate, int64_t j) { return layer.Wx(gate, j, x) + layer.Uh(gate, j, h); }, c);
}

PlainState linear_rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                      const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = layer.Wx(0, j, x) + layer.Uh(0, j, h);
  return {next, {}};
}

// Wu et al. 2016 (4), of row k of the stacked gates.
Number integrated(const PlainLayer& layer, int64_t k, const Vector& x, const Vector& h) {
  const Number Wx = layer.product("weight_ih", k, x), Uh = layer.product("weight_hh", k, h);
  return layer["alpha"][k] * Wx * Uh + layer["beta1"][k] * Uh + layer["beta2"][k] * Wx + layer["bias_ih"][k];
}

template <bool identity>
PlainState mi_rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const Number z = integrated(layer, j, x, h);
    next[j] = identity ? z : std::tanh(z);
  }
  return {next, {}};
}

PlainState mi_rnn_simple(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                         const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j)
    next[j] =
        std::tanh(layer.product("weight_ih", j, x) * layer.product("weight_hh", j, h) + layer["bias_ih"][j]);
  return {next, {}};
}

PlainState mi_lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                   const Vector&) {
  return lstm_of<false>(
      [&](int64_t gate, int64_t j) { return integrated(layer, gate * layer.hidden + j, x, h); }, c);
}

PlainState mi_gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                  const Vector& kept) {
  const int64_t units = layer.hidden;
  Vector reset(units), next(units);
  for (int64_t j = 0; j < units; ++j) reset[j] = s(integrated(layer, j, x, h)) * h[j];
  for (int64_t j = 0; j < units; ++j) {
    const Number z = s(integrated(layer, units + j, x, h)),
                 n = std::tanh(integrated(layer, 2 * units + j, x, reset));
    next[j] = z * kept[j] + (1.0 - z) * n;
  }
  return {next, {}};
}

/// A GRU whose recurrent weights see `past` in place of h. Its rows are stacked: one of r for each unit of
/// past, then those of z, then those of n.
PlainState gru_after(const PlainLayer& layer, const std::string& U, const Vector& x, const Vector& past,
                     const Vector& kept) {
  const int64_t units = layer.hidden, filters = std::ssize(past);
  const auto row = [&](int64_t k, const Vector& seen) {
    return layer.product("weight_ih", k, x) + layer.product(U, k, seen) + layer.bias(k);
  };
  Vector filtered = past, next(units);
  for (int64_t j = 0; j < filters; ++j) filtered[j] *= s(row(j, past));
  for (int64_t j = 0; j < units; ++j) {
    const Number z = s(row(filters + j, past)), n = std::tanh(row(filters + units + j, filtered));
    next[j] = z * kept[j] + (1.0 - z) * n;
  }
  return {next, {}};
}

/// m = (W_mx x) (W_mh h), number `which` of so many that are stacked.
Vector intermediate_state(const PlainLayer& layer, const Vector& x, const Vector& h, int64_t which = 0,
                          int64_t states = 1) {
  const int64_t M = layer.M(states);
  Vector m(M);
  for (int64_t j = 0; j < M; ++j)
    m[j] = layer.product("weight_mx", which * M + j, x) * layer.product("weight_mh", which * M + j, h);
  return m;
}

/// (U x + V m + b) of unit j of a gate.
Number multiplicative(const PlainLayer& layer, int64_t gate, int64_t j, const Vector& x, const Vector& m) {
  const int64_t k = gate * layer.hidden + j;
  return layer.product("weight_ih", k, x) + layer.product("weight_hm", k, m) + layer.bias(k);
}

PlainState trnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  const int64_t units = layer.hidden;
  Vector next(units);
  for (int64_t j = 0; j < units; ++j) {
    Number z = layer.Wx(0, j, x) + layer.bias("bias_hh", j);
    for (int64_t k = 0; k < units; ++k) z += layer.product("weight_hx", j * units + k, x) * h[k];
    next[j] = std::tanh(z);
  }
  return {next, {}};
}

PlainState mrnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  const Vector m = intermediate_state(layer, x, h);
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = std::tanh(multiplicative(layer, 0, j, x, m));
  return {next, {}};
}

PlainState mlstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c, const Vector&) {
  const Vector m = intermediate_state(layer, x, h);
  return lstm_of<false>([&](int64_t gate, int64_t j) { return multiplicative(layer, gate, j, x, m); }, c);
}

PlainState tmlstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c, const Vector&) {
  return lstm_of<false>(
      [&](int64_t gate, int64_t j) {
        return multiplicative(layer, gate, j, x, intermediate_state(layer, x, h, gate, 4));
      },
      c);
}

PlainState mgru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                const Vector& kept) {
  return gru_after(layer, "weight_hm", x, intermediate_state(layer, x, h), kept);
}

PlainState tmgru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                 const Vector& kept) {
  const int64_t units = layer.hidden;
  Vector reset(units), next(units);
  for (int64_t j = 0; j < units; ++j)
    reset[j] = s(multiplicative(layer, 0, j, x, intermediate_state(layer, x, h, 0, 3))) * h[j];
  for (int64_t j = 0; j < units; ++j) {
    const Number z = s(multiplicative(layer, 1, j, x, intermediate_state(layer, x, h, 1, 3)));
    const Number n = std::tanh(multiplicative(layer, 2, j, x, intermediate_state(layer, x, reset, 2, 3)));
    next[j] = z * kept[j] + (1.0 - z) * n;
  }
  return {next, {}};
}

PlainState gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector& kept) {
  Vector reset(layer.hidden), next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) reset[j] = s(layer.Wx(0, j, x) + layer.Uh(0, j, h)) * h[j];
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const Number z = s(layer.Wx(1, j, x) + layer.Uh(1, j, h));
    const Number n = std::tanh(layer.Wx(2, j, x) + layer.Uh(2, j, reset));
    next[j] = z * kept[j] + (1.0 - z) * n;
  }
  return {next, {}};
}

PlainState gru_reset_after(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                           const Vector& kept) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const Number r = s(layer.Wx(0, j, x) + layer.Uh(0, j, h)), z = s(layer.Wx(1, j, x) + layer.Uh(1, j, h));
    const Number n = std::tanh(layer.Wx(2, j, x) + r * layer.Uh(2, j, h));
    next[j] = (1.0 - z) * n + z * kept[j];
  }
  return {next, {}};
}

/// tanh(V_k u + b_k).
Vector dense(const PlainLayer& layer, int64_t number, const Vector& u) {
  const Vector& b = layer["bias_" + std::to_string(number)];
  Vector next(b.size());
  for (int64_t j = 0; j < std::ssize(b); ++j)
    next[j] = std::tanh(layer.product("weight_" + std::to_string(number), j, u) + b[j]);
  return next;
}

template <bool shortcut>
PlainState dt_rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  Vector u(layer["bias_1"].size());
  for (int64_t j = 0; j < std::ssize(u); ++j)
    u[j] =
        std::tanh(layer.product("weight_ih", j, x) + layer.product("weight_hh", j, h) + layer["bias_1"][j]);
  int64_t last = 2;
  for (; layer.has("weight_" + std::to_string(last + 1)); ++last) u = dense(layer, last, u);
  const std::string number = std::to_string(last);
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j)
    next[j] = std::tanh(layer.product("weight_" + number, j, u) + layer["bias_" + number][j] +
                        (shortcut ? layer.product("weight_shortcut", j, h) : 0.0));
  return {next, {}};
}

Vector transition(const PlainLayer& layer, Vector u) {
  for (int64_t k = 1; layer.has("weight_" + std::to_string(k)); ++k) u = dense(layer, k, u);
  return u;
}

PlainState dt_lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                   const Vector& kept) {
  return lstm<false>(layer, x, transition(layer, h), c, kept);
}

PlainState dt_gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                  const Vector& kept) {
  return gru_after(layer, "weight_hh", x, transition(layer, h), kept);
}

}  // namespace

const std::vector<std::pair<std::string, PlainCell>>& plain_cells() {
  static const std::vector<std::pair<std::string, PlainCell>> cells = {
      {"rnn", rnn},
      {"linear_rnn", linear_rnn},
      {"lstm", lstm<false>},
      {"lstm_sigmoid", lstm<true>},
      {"gru", gru},
      {"gru_reset_after", gru_reset_after},
      {"trnn", trnn},
      {"mrnn", mrnn},
      {"mlstm", mlstm},
      {"tmlstm", tmlstm},
      {"mgru", mgru},
      {"tmgru", tmgru},
      {"mi_rnn", mi_rnn<false>},
      {"mi_rnn_simple", mi_rnn_simple},
      {"linear_mi_rnn", mi_rnn<true>},
      {"mi_lstm", mi_lstm},
      {"mi_gru", mi_gru},
      {"dt_rnn", dt_rnn<false>},
      {"dts_rnn", dt_rnn<true>},
      {"dt_lstm", dt_lstm},
      {"dt_gru", dt_gru},
  };
  return cells;
}

}  // namespace rondo
