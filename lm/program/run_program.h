// The program `lm`, from its words to its exit status. The commands have files of their own. Next:
// command_line.h.
#pragma once

namespace rondo {

int run_program(int argc, const char* const* argv);

}  // namespace rondo
