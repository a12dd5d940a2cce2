// A residual block around a cell, as models of linear cells are built of: De et al. 2024, "Griffin", figure
// 2; Beck et al. 2024, "xLSTM", figure 10; the programs of minGRU's authors (BorealisAI/minRNNs). Each of
// them has more, which is left out here:
// - Griffin: a linear layer before the convolution; division by the root mean square in place of LN, the
//   layer normalisation.
// - xLSTM: the convolution, and swish after it, for the gates i and f alone; W in blocks, as R is; a
//   normalisation of h head by head.
// - minGRU: x + convolution(x) at the beginning, before the normalisation; a feed-forward layer without W_3.
//
//   u = LN(x)           h = cell(convolution(u))        y = x + W_o (gelu(W_g u) h)
//   v = LN(y)           result = y + W_2 (gelu(W_1 v) (W_3 v))
//
// The convolution, W_g and the second line are options; W_o is there if W_g is, or if h and x differ in
// width.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "autograd/operators/functions.h"
#include "nn/layers/linear.h"
#include "nn/layers/normalization.h"

namespace rondo {

enum class BlockKind { plain, residual };
inline std::vector<std::string> names_of(BlockKind) { return {"plain", "residual"}; }

struct BlockOptions {
  BlockKind kind = BlockKind::plain;
  double expansion = 1;      // width of h, of x
  bool convolution = false;  // nn/cells/convolution.h
  bool gate = false;         // W_g
  double feed_forward = 0;   // width of W_1, of x; 0: none

  int64_t cell_units(int64_t width) const { return std::llround(static_cast<double>(width) * expansion); }
};
inline Keys keys_of(BlockOptions& it) {
  return {
      {"block", choice(it.kind), "what a recurrent layer is: the cell alone, or a residual block around it"},
      {"expansion", &it.expansion, between(0.01, 100), "units", "of a block's cell, for each of its input"},
      {"convolution", &it.convolution, "whether a block's cell reads a convolution over four steps"},
      {"gate", &it.gate, "whether a block multiplies its cell's output by a gate"},
      {"feed_forward", &it.feed_forward, between(0, 100), "units",
       "of a block's feed-forward layers, for each of its input; 0: it has none"}};
}

struct ResidualBlock : Module {
  ResidualBlock(Module& parent, std::string block_name, int64_t width, const BlockOptions& options)
      : Module(parent, std::move(block_name)), norm(*this, "norm", width) {
    const auto make = [&](const char* linear_name, int64_t in, int64_t out) {
      return std::make_unique<Linear>(*this, linear_name, in, out);
    };
    const int64_t H = options.cell_units(width),
                  F = std::llround(options.feed_forward * static_cast<double>(width));
    if (options.gate) W_g = make("gate", width, H);
    if (options.gate || H != width) W_o = make("out", H, width);
    if (F == 0) return;
    feed_norm = std::make_unique<LayerNorm>(*this, "feed_norm", width);
    W_1 = make("feed_gate", width, F);
    W_3 = make("feed_in", width, F);
    W_2 = make("feed_out", F, width);
  }

  /// x [.., width]; `cell` and `drop` are functions of a Variable, the dropout of what is added to x.
  template <class Run, class Drop>
  Variable operator()(const Variable& x, Run cell, Drop drop) const {
    const Variable u = norm(x);
    Variable h = cell(u);
    if (W_g) h = gated_gelu((*W_g)(u), h);
    const Variable y = x + drop(W_o ? (*W_o)(h) : h);
    if (!feed_norm) return y;
    const Variable v = (*feed_norm)(y);
    return y + drop((*W_2)(gated_gelu((*W_1)(v), (*W_3)(v))));
  }

  LayerNorm norm;
  std::unique_ptr<Linear> W_g, W_o, W_1, W_2, W_3;  // null: left out
  std::unique_ptr<LayerNorm> feed_norm;
};

}  // namespace rondo
