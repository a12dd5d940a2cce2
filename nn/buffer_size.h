// The size of a model's buffers (nn/module.h), for those who ask before they have memory.
#pragma once

#include <cstdint>

namespace rondo {

class Module;

/// Elements of values() and of gradients(), padding included, once the model is laid out.
int64_t buffer_size(const Module& root);

}  // namespace rondo
