// Plain loops.
#include "tests/nn/cells/plain_cells.h"

#include <cmath>

namespace rondo {
namespace {

Number s(Number x) { return 1.0 / (1.0 + std::exp(-x)); }

/// A vector by its elements.
template <class Element>
Vector each(int64_t units, const Element& element) {
  Vector result;
  for (int64_t j = 0; j < units; ++j) result.push_back(element(j));
  return result;
}

/// tanh, or ReLU where the cell is set to it.
Number activated(const PlainLayer& layer, Number z) {
  return layer.setting("activation", 0) == 0 ? std::tanh(z) : z.real() > 0 ? z : Number(0);
}

PlainState rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  return {
      each(layer.hidden, [&](int64_t j) { return activated(layer, layer.Wx(0, j, x) + layer.Uh(0, j, h)); })};
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
  return {each(layer.hidden, [&](int64_t j) { return layer.Wx(0, j, x) + layer.Uh(0, j, h); })};
}

/// A GRU whose recurrent weights see `past` in place of h, of the pre-activations r(j), z(j) and
/// n(j, r past): as many of r as `past` has units.
template <class Reset, class Update, class Candidate>
PlainState gru_of(const Vector& past, const Vector& kept, const Reset& r, const Update& z,
                  const Candidate& n) {
  const Vector filtered = each(std::ssize(past), [&](int64_t j) { return s(r(j)) * past[j]; });
  return {each(std::ssize(kept),
               [&](int64_t j) { return s(z(j)) * kept[j] + (1.0 - s(z(j))) * std::tanh(n(j, filtered)); })};
}

// Wu et al. 2016 (4), of row k of the stacked gates.
Number integrated(const PlainLayer& layer, int64_t k, const Vector& x, const Vector& h) {
  const Number Wx = layer.product("weight_ih", k, x), Uh = layer.product("weight_hh", k, h);
  return layer["alpha"][k] * Wx * Uh + layer["beta1"][k] * Uh + layer["beta2"][k] * Wx + layer["bias_ih"][k];
}

template <bool identity>
PlainState mi_rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  return {each(layer.hidden, [&](int64_t j) {
    const Number z = integrated(layer, j, x, h);
    return identity ? z : std::tanh(z);
  })};
}

PlainState mi_rnn_simple(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                         const Vector&) {
  return {each(layer.hidden, [&](int64_t j) {
    return std::tanh(layer.product("weight_ih", j, x) * layer.product("weight_hh", j, h) +
                     layer["bias_ih"][j]);
  })};
}

PlainState mi_lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                   const Vector&) {
  return lstm_of<false>(
      [&](int64_t gate, int64_t j) { return integrated(layer, gate * layer.hidden + j, x, h); }, c);
}

PlainState mi_gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                  const Vector& kept) {
  const int64_t units = layer.hidden;
  return gru_of(
      h, kept, [&](int64_t j) { return integrated(layer, j, x, h); },
      [&](int64_t j) { return integrated(layer, units + j, x, h); },
      [&](int64_t j, const Vector& reset) { return integrated(layer, 2 * units + j, x, reset); });
}

/// A GRU whose recurrent weights see `past` in place of h. Its rows are stacked: one of r for each unit of
/// past, then those of z, then those of n.
PlainState gru_after(const PlainLayer& layer, const std::string& U, const Vector& x, const Vector& past,
                     const Vector& kept) {
  const int64_t units = layer.hidden, filters = std::ssize(past);
  const auto row = [&](int64_t k, const Vector& seen) {
    return layer.product("weight_ih", k, x) + layer.product(U, k, seen) + layer.bias(k);
  };
  return gru_of(
      past, kept, [&](int64_t j) { return row(j, past); }, [&](int64_t j) { return row(filters + j, past); },
      [&](int64_t j, const Vector& filtered) { return row(filters + units + j, filtered); });
}

/// m = (W_mx x) (W_mh h), number `which` of so many that are stacked.
Vector intermediate_state(const PlainLayer& layer, const Vector& x, const Vector& h, int64_t which = 0,
                          int64_t states = 1) {
  const int64_t M = layer.M(states);
  return each(M, [&](int64_t j) {
    return layer.product("weight_mx", which * M + j, x) * layer.product("weight_mh", which * M + j, h);
  });
}

/// (U x + V m + b) of unit j of a gate.
Number multiplicative(const PlainLayer& layer, int64_t gate, int64_t j, const Vector& x, const Vector& m) {
  const int64_t k = gate * layer.hidden + j;
  return layer.product("weight_ih", k, x) + layer.product("weight_hm", k, m) + layer.bias(k);
}

PlainState trnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  const int64_t units = layer.hidden;
  return {each(units, [&](int64_t j) {
    Number z = layer.Wx(0, j, x) + layer.bias("bias_hh", j);
    for (int64_t k = 0; k < units; ++k) z += layer.product("weight_hx", j * units + k, x) * h[k];
    return std::tanh(z);
  })};
}

PlainState mrnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  const Vector m = intermediate_state(layer, x, h);
  return {each(layer.hidden, [&](int64_t j) { return std::tanh(multiplicative(layer, 0, j, x, m)); })};
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
  const auto row = [&](int64_t gate, int64_t j, const Vector& seen) {
    return multiplicative(layer, gate, j, x, intermediate_state(layer, x, seen, gate, 3));
  };
  return gru_of(
      h, kept, [&](int64_t j) { return row(0, j, h); }, [&](int64_t j) { return row(1, j, h); },
      [&](int64_t j, const Vector& reset) { return row(2, j, reset); });
}

PlainState gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector& kept) {
  const auto row = [&](int64_t gate, int64_t j, const Vector& seen) {
    return layer.Wx(gate, j, x) + layer.Uh(gate, j, seen);
  };
  return gru_of(
      h, kept, [&](int64_t j) { return row(0, j, h); }, [&](int64_t j) { return row(1, j, h); },
      [&](int64_t j, const Vector& reset) { return row(2, j, reset); });
}

PlainState gru_reset_after(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                           const Vector& kept) {
  return {each(layer.hidden, [&](int64_t j) {
    const Number r = s(layer.Wx(0, j, x) + layer.Uh(0, j, h)), z = s(layer.Wx(1, j, x) + layer.Uh(1, j, h));
    return (1.0 - z) * std::tanh(layer.Wx(2, j, x) + r * layer.Uh(2, j, h)) + z * kept[j];
  })};
}

// Zhou et al. 2016; the variants of its gate: Heck & Salem 2017.
PlainState mgu(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector& kept) {
  const auto variant = static_cast<int64_t>(layer.setting("mgu_gate", 0));  // 0: Zhou et al.
  const int64_t units = layer.hidden;
  Vector f(units), filtered(units), next(units);
  for (int64_t j = 0; j < units; ++j) {
    if (variant == 0) f[j] = s(layer.Wx(0, j, x) + layer.Uh(0, j, h));
    if (variant == 1) f[j] = s(layer.product("weight_hh", j, h) + layer.bias("bias_f", j));
    if (variant == 2) f[j] = s(layer.product("weight_hh", j, h));
    if (variant == 3) f[j] = s(layer["bias_f"][j]);
    filtered[j] = f[j] * h[j];
  }
  // n is behind f where both are stacked.
  const int64_t in_W = variant == 0 ? units : 0, in_U = variant == 3 ? 0 : units;
  for (int64_t j = 0; j < units; ++j) {
    const Number n = std::tanh(layer.product("weight_ih", in_W + j, x) +
                               layer.product("weight_hh", in_U + j, filtered) + layer.bias(in_W + j));
    next[j] = (1.0 - f[j]) * kept[j] + f[j] * n;
  }
  return {next};
}

/// tanh(V_k u + b_k).
Vector dense(const PlainLayer& layer, int64_t number, const Vector& u) {
  const Vector& b = layer["bias_" + std::to_string(number)];
  return each(std::ssize(b), [&](int64_t j) {
    return std::tanh(layer.product("weight_" + std::to_string(number), j, u) + b[j]);
  });
}

template <bool shortcut>
PlainState dt_rnn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector&) {
  Vector u = each(std::ssize(layer["bias_1"]), [&](int64_t j) {
    return std::tanh(layer.product("weight_ih", j, x) + layer.product("weight_hh", j, h) +
                     layer["bias_1"][j]);
  });
  int64_t last = 2;
  for (; layer.has("weight_" + std::to_string(last + 1)); ++last) u = dense(layer, last, u);
  const std::string number = std::to_string(last);
  return {each(layer.hidden, [&](int64_t j) {
    return std::tanh(layer.product("weight_" + number, j, u) + layer["bias_" + number][j] +
                     (shortcut ? layer.product("weight_shortcut", j, h) : 0.0));
  })};
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

PlainState ln_lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                   const Vector&) {
  const int64_t units = layer.hidden;
  const auto side = [&](const std::string& name, const Vector& v) {
    const Vector z = each(4 * units, [&](int64_t k) { return layer.product("weight_" + name, k, v); });
    return normalized(z, layer["gamma_" + name], layer["bias_" + name]);
  };
  const Vector Wx = side("ih", x), Uh = side("hh", h);
  const auto z = [&](int64_t gate, int64_t j) { return Wx[gate * units + j] + Uh[gate * units + j]; };
  PlainState next = lstm_of<false>(z, c);
  const Vector shown = normalized(next.c, layer["gamma_c"], layer["beta_c"]);
  for (int64_t j = 0; j < units; ++j) next.h[j] = s(z(3, j)) * std::tanh(shown[j]);
  return next;
}

PlainState ln_gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&,
                  const Vector& kept) {
  const int64_t units = layer.hidden;
  const auto side = [&](const std::string& name, const Vector& v, int64_t begin, int64_t end) {
    const auto part = [&](const Vector& all) { return Vector(all.begin() + begin, all.begin() + end); };
    const Vector z =
        each(end - begin, [&](int64_t k) { return layer.product("weight_" + name, begin + k, v); });
    return normalized(z, part(layer["gamma_" + name]), part(layer["bias_" + name]));
  };
  const Vector x_gates = side("ih", x, 0, 2 * units), h_gates = side("hh", h, 0, 2 * units),
               x_candidate = side("ih", x, 2 * units, 3 * units),
               h_candidate = side("hh", h, 2 * units, 3 * units);
  return {each(units, [&](int64_t j) {
    const Number r = s(x_gates[j] + h_gates[j]), z = s(x_gates[units + j] + h_gates[units + j]);
    return (1.0 - z) * std::tanh(x_candidate[j] + r * h_candidate[j]) + z * kept[j];
  })};
}

// Melis et al. 2020 (1), (2): x and h that the gates see.
std::pair<Vector, Vector> mogrified(const PlainLayer& layer, Vector x, Vector h) {
  for (int64_t i = 1; i <= static_cast<int64_t>(layer.setting("mogrifier_rounds", 5)); ++i) {
    const bool odd = i % 2 == 1;
    const std::string name = (odd ? "weight_q_" : "weight_r_") + std::to_string(i);
    Vector& scaled = odd ? x : h;
    Vector by = odd ? h : x;
    if (layer.has(name + "_right")) {
      const auto rank = static_cast<int64_t>(layer[name + "_right"].size() / by.size());
      by = each(rank, [&](int64_t k) { return layer.product(name + "_right", k, by); });
    }
    const std::string last = layer.has(name) ? name : name + "_left";
    for (int64_t j = 0; j < std::ssize(scaled); ++j) scaled[j] *= 2.0 * s(layer.product(last, j, by));
  }
  return {x, h};
}

PlainState mogrifier_lstm(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                          const Vector& kept) {
  const auto [x_last, h_last] = mogrified(layer, x, h);
  return lstm<false>(layer, x_last, h_last, c, kept);
}

PlainState mogrifier_gru(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector& c,
                         const Vector& kept) {
  const auto [x_last, h_last] = mogrified(layer, x, h);
  return gru(layer, x_last, h_last, c, kept);
}

// Zilly et al. 2017 (6)-(9), c = 1 - t.
PlainState rhn(const PlainLayer& layer, const Vector& x, const Vector& h, const Vector&, const Vector& kept) {
  const int64_t units = layer.hidden;
  Vector seen = h, state = kept;
  for (int64_t l = 1; layer.has("bias_" + std::to_string(l)); ++l) {
    const std::string number = std::to_string(l);
    const auto z = [&](int64_t k) {
      return layer.product("weight_hh_" + number, k, seen) + layer["bias_" + number][k] +
             (l == 1 ? layer.product("weight_ih", k, x) : 0.0);
    };
    seen = state = each(units, [&](int64_t j) {
      const Number t = s(z(units + j));
      return t * std::tanh(z(j)) + (1.0 - t) * state[j];
    });
  }
  return {state};
}

// Lei et al. 2018 (1)-(4), with alpha of section 3.2.
PlainState sru(const PlainLayer& layer, const Vector& x, const Vector&, const Vector& c, const Vector&) {
  const int64_t units = layer.hidden;
  const double alpha = std::sqrt(1 + 2 * std::exp(layer.setting("highway_bias", 0)));
  Vector next_h(units), next_c(units);
  for (int64_t j = 0; j < units; ++j) {
    const auto W = [&](int64_t block) { return layer.product("weight_ih", block * units + j, x); };
    const Number f = s(W(1) + layer["weight_cf"][j] * c[j] + layer["bias_f"][j]),
                 r = s(W(2) + layer["weight_cr"][j] * c[j] + layer["bias_r"][j]);
    next_c[j] = f * c[j] + (1.0 - f) * W(0);
    next_h[j] = r * next_c[j] + (1.0 - r) * alpha * (layer.input == units ? x[j] : W(3));
  }
  return {next_h, next_c};
}

// Bradbury et al. 2017 (3), (4): the inputs before lie in the state, the latest first.
PlainState qrnn(const PlainLayer& layer, const Vector& x, const PlainState& seen, const Vector&) {
  const int64_t units = layer.hidden, window = static_cast<int64_t>(layer.setting("window", 2));
  std::vector<Vector> inputs = {x};
  for (int64_t k = 1; k < window; ++k) {
    const Vector& before = seen.others.at("x");
    inputs.emplace_back(before.begin() + (k - 1) * layer.input, before.begin() + k * layer.input);
  }
  PlainState next{Vector(units), Vector(units)};
  for (int64_t j = 0; j < units; ++j) {
    const auto z = [&](int64_t gate) {
      Number sum = layer["bias_ih"][gate * units + j];
      for (int64_t k = 0; k < window; ++k)
        sum += layer.product(k == 0 ? "weight_ih" : "weight_ih_" + std::to_string(k), gate * units + j,
                             inputs[k]);
      return sum;
    };
    const Number f = s(z(1));
    next.c[j] = f * seen.c[j] + (1.0 - f) * std::tanh(z(0));
    next.h[j] = s(z(2)) * next.c[j];
  }
  inputs.pop_back();
  for (const Vector& it : inputs) next.others["x"].insert(next.others["x"].end(), it.begin(), it.end());
  return next;
}

// Mujika et al. 2017 (1)-(4).
PlainState fs_lstm(const PlainLayer& layer, const Vector& x, const PlainState& seen, const Vector&) {
  const auto cell = [&](const std::string& name, const Vector* read, const Vector& h, const Vector& c) {
    return lstm_of<false>(
        [&](int64_t gate, int64_t j) {
          const int64_t k = gate * std::ssize(c) + j;
          return layer["bias_" + name][k] + layer.product("weight_hh_" + name, k, h) +
                 (read ? layer.product("weight_ih_" + name, k, *read) : 0.0);
        },
        c);
  };
  const PlainState first = cell("fast_1", &x, seen.h, seen.c);
  const PlainState slow = cell("slow", &first.h, seen.others.at("slow_h"), seen.others.at("slow_c"));
  PlainState last = cell("fast_2", &slow.h, first.h, first.c);
  for (int64_t i = 3; layer.has("bias_fast_" + std::to_string(i)); ++i)
    last = cell("fast_" + std::to_string(i), nullptr, last.h, last.c);
  last.others = {{"slow_h", slow.h}, {"slow_c", slow.c}};
  return last;
}

// Feng et al. 2024, minGRU and minLSTM, g of appendix B.3.
Number g(Number x) { return x.real() >= 0 ? x + 0.5 : s(x); }

PlainState min_gru(const PlainLayer& layer, const Vector& x, const Vector&, const Vector&,
                   const Vector& kept) {
  return {each(layer.hidden, [&](int64_t j) {
    const Number z = s(layer.Wx(0, j, x));
    return (1.0 - z) * kept[j] + z * g(layer.Wx(1, j, x));
  })};
}

PlainState min_lstm(const PlainLayer& layer, const Vector& x, const Vector&, const Vector&,
                    const Vector& kept) {
  return {each(layer.hidden, [&](int64_t j) {
    const Number f = s(layer.Wx(0, j, x)), i = s(layer.Wx(1, j, x));
    return (f * kept[j] + i * g(layer.Wx(2, j, x))) / (f + i);
  })};
}

// De et al. 2024 (1)-(4).
PlainState rg_lru(const PlainLayer& layer, const Vector& x, const Vector&, const Vector&,
                  const Vector& kept) {
  return {each(layer.hidden, [&](int64_t j) {
    const Number r = s(layer.Wx(0, j, x)), i = s(layer.Wx(1, j, x));
    const Number a = std::pow(s(layer["lambda"][j]), 8.0 * r);
    const Number input = layer.input == layer.hidden ? x[j] : layer.Wx(2, j, x);
    return a * kept[j] + std::sqrt(1.0 - a * a) * i * input;
  })};
}

// Over x and the three inputs before, the latest first in the state.
PlainState convolution(const PlainLayer& layer, const Vector& x, const PlainState& seen, const Vector&) {
  Vector inputs = x, sum;
  const Vector& before = seen.others.at("x");
  inputs.insert(inputs.end(), before.begin(), before.end());
  for (int64_t j = 0; j < layer.input; ++j) {
    sum.push_back(layer["bias"][j]);
    for (int64_t k = 0; k < 4; ++k)
      sum[j] += layer[k == 0 ? "weight" : "weight_" + std::to_string(k)][j] * inputs[k * layer.input + j];
  }
  PlainState next{sum};
  if (layer.input != layer.hidden)
    next.h = each(layer.hidden, [&](int64_t j) { return layer.product("weight_ih", j, sum); });
  inputs.resize(static_cast<size_t>(3 * layer.input));
  next.others = {{"x", inputs}};
  return next;
}

// Beck et al. 2024 (8)-(17), of streams that begin with n = 0 or carry a state.
PlainState slstm(const PlainLayer& layer, const Vector& x, const PlainState& seen, const Vector&) {
  const int64_t units = std::ssize(layer["weight_hh"]) / (4 * layer.hidden);  // of a head
  PlainState next{Vector(layer.hidden)};
  Vector c(layer.hidden), n(layer.hidden), m(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const int64_t head = j / units;
    const Vector h(seen.h.begin() + head * units, seen.h.begin() + (head + 1) * units);
    const auto z = [&](int64_t gate) {
      const int64_t row = (4 * head + gate) * units + j % units;
      return layer.product("weight_ih", row, x) + layer.product("weight_hh", row, h) + layer["bias_ih"][row];
    };
    const Number kept = std::log(s(z(1))) + seen.others.at("m")[j];
    m[j] = seen.others.at("n")[j].real() > 0 && kept.real() > z(0).real() ? kept : z(0);
    const Number f = std::exp(kept - m[j]), i = std::exp(z(0) - m[j]);
    c[j] = f * seen.others.at("stored")[j] + i * std::tanh(z(2));
    n[j] = f * seen.others.at("n")[j] + i;
    next.h[j] = s(z(3)) * c[j] / n[j];
  }
  next.others = {{"stored", c}, {"n", n}, {"m", m}};
  return next;
}

/// A cell whose state is h, or h and c.
PlainCell of(PlainState (*step)(const PlainLayer&, const Vector& x, const Vector& h, const Vector& c,
                                const Vector& kept)) {
  return [step](const PlainLayer& layer, const Vector& x, const PlainState& seen, const Vector& kept) {
    return step(layer, x, seen.h, seen.c, kept);
  };
}

}  // namespace

Vector normalized(const Vector& z, const Vector& gain, const Vector& shift) {
  const double count = static_cast<double>(z.size());
  const Number mean = std::accumulate(z.begin(), z.end(), Number(0)) / count;
  Number variance = 0;
  for (const Number it : z) variance += (it - mean) * (it - mean) / count;
  Vector result;
  for (size_t j = 0; j < z.size(); ++j)
    result.push_back(gain[j] * (z[j] - mean) / std::sqrt(variance + 1e-5) + shift[j]);
  return result;
}

const std::vector<std::pair<std::string, PlainCell>>& plain_cells() {
  static const std::vector<std::pair<std::string, PlainCell>> cells = {
      {"rnn", of(rnn)},
      {"linear_rnn", of(linear_rnn)},
      {"lstm", of(lstm<false>)},
      {"lstm_sigmoid", of(lstm<true>)},
      {"gru", of(gru)},
      {"gru_reset_after", of(gru_reset_after)},
      {"mgu", of(mgu)},
      {"trnn", of(trnn)},
      {"mrnn", of(mrnn)},
      {"mlstm", of(mlstm)},
      {"tmlstm", of(tmlstm)},
      {"mgru", of(mgru)},
      {"tmgru", of(tmgru)},
      {"mi_rnn", of(mi_rnn<false>)},
      {"mi_rnn_simple", of(mi_rnn_simple)},
      {"linear_mi_rnn", of(mi_rnn<true>)},
      {"mi_lstm", of(mi_lstm)},
      {"mi_gru", of(mi_gru)},
      {"dt_rnn", of(dt_rnn<false>)},
      {"dts_rnn", of(dt_rnn<true>)},
      {"dt_lstm", of(dt_lstm)},
      {"dt_gru", of(dt_gru)},
      {"ln_lstm", of(ln_lstm)},
      {"ln_gru", of(ln_gru)},
      {"mogrifier_lstm", of(mogrifier_lstm)},
      {"mogrifier_gru", of(mogrifier_gru)},
      {"rhn", of(rhn)},
      {"sru", of(sru)},
      {"qrnn", qrnn},
      {"fs_lstm", fs_lstm},
      {"min_gru", of(min_gru)},
      {"min_lstm", of(min_lstm)},
      {"rg_lru", of(rg_lru)},
      {"convolution", convolution},
      {"slstm", slstm},
  };
  return cells;
}

}  // namespace rondo
