// The program `lm`. What runs a command: lm/program/cli.cpp; the list of commands:
// lm/commands/all_commands.cpp.
#include "lm/commands/all_commands.h"

int main(int argc, char** argv) { return rondo::run_program(argc, argv, rondo::all_commands()); }
