// The program `lm`. Apart from the library with all its parts, so that tests can call those. Next:
// run_program.h.
#include "lm/program/run_program.h"

int main(int argc, char** argv) { return rondo::run_program(argc, argv); }
