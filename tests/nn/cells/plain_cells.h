// Every cell as plain loops over complex numbers, written from the papers' equations and sharing nothing with
// nn/: a derivative is the imaginary part that a tiny imaginary step of a parameter leaves (exact, with no
// difference taken).
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rondo {

using Number = std::complex<double>;
using Vector = std::vector<Number>;

/// The parameters of one layer, as numbers.
struct PlainLayer {
  int64_t input, hidden;
  std::map<std::string, std::vector<double>> settings;
  std::map<std::string, Vector> named;  // without "rnn." and the layer's suffix

  const Vector& operator[](const std::string& name) const { return named.at(name); }
  bool has(const std::string& name) const { return named.contains(name); }
  /// Row `row` of a matrix times a vector.
  Number product(const std::string& matrix, int64_t row, const Vector& v) const {
    return std::inner_product(v.begin(), v.end(), (*this)[matrix].begin() + row * std::ssize(v), Number(0));
  }
  /// Of a gate's bias, which is 0 where there is none.
  Number bias(const std::string& name, int64_t row) const { return has(name) ? (*this)[name][row] : 0.0; }
  Number bias(int64_t row) const { return bias("bias_ih", row) + bias("bias_hh", row); }
  Number Wx(int64_t gate, int64_t j, const Vector& x) const {
    return product("weight_ih", gate * hidden + j, x) + bias("bias_ih", gate * hidden + j);
  }
  Number Uh(int64_t gate, int64_t j, const Vector& h) const {
    return product("weight_hh", gate * hidden + j, h) + bias("bias_hh", gate * hidden + j);
  }
  /// A number that the cell was set to, or `otherwise`.
  double setting(const std::string& name, double otherwise) const {
    return settings.contains(name) ? settings.at(name)[0] : otherwise;
  }
  int64_t M(int64_t states) const { return std::ssize((*this)["weight_mx"]) / input / states; }
};

/// The state of one stream: h, c where there is one, and others by name.
struct PlainState {
  Vector h, c{};
  std::map<std::string, Vector> others{};
};

/// One step of one stream: the new state. Recurrent weights see seen.h; an update gate keeps `kept`, which
/// differs where a mask lies on h.
using PlainCell =
    std::function<PlainState(const PlainLayer&, const Vector& x, const PlainState& seen, const Vector& kept)>;

/// Ba et al. 2016 (4), epsilon as PyTorch has it.
Vector normalized(const Vector& z, const Vector& gain, const Vector& shift);

/// Of all cells, in the order of cell_names().
const std::vector<std::pair<std::string, PlainCell>>& plain_cells();
/// Of one of them.
inline PlainCell plain_cell(const std::string& name) {
  for (const auto& [known, cell] : plain_cells())
    if (known == name) return cell;
  throw std::runtime_error("no plain loops of the cell " + name);
}

}  // namespace rondo
