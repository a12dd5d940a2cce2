// The files of lm/program/recipes and lm/program/exported, which are in the program. Next:
// embedded_files.cpp.
#pragma once

extern "C" {

/// A sequence of zero-terminated strings: name, text, name, text, ..., and an empty name at the end.
extern const char rondo_recipes[];

/// Each a zero-terminated text.
extern const char rondo_exported_pytorch[], rondo_exported_onnx[], rondo_exported_use[];
}
