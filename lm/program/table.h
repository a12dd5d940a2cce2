// `lm table`: what papers report beside what runs measured. All of it comes from the folders of the runs:
// config.toml, vocab.txt, log.jsonl, evaluations.jsonl, and the SHA-256 of model.safetensors. Deliberately
// measures nothing anew: that is evaluate.h.
#pragma once

#include <string>
#include <vector>

namespace rondo {

struct TableOptions {
  std::vector<std::string> runs;
  bool json = false, markdown = false;  // at most one; neither: a text table
};

/// Prints a row for each run on stdout, in the order given, and returns 0. A folder that is no run, or holds
/// a broken file, is left out: it costs a line on stderr, which names the file and the line of the log, and
/// then 2 is returned.
int table(const TableOptions& options);

}  // namespace rondo
