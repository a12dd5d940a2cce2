// What a model attended to.
#include "lm/program/attention_file.h"

#include <fmt/format.h>

#include "lm/program/output_file.h"
#include "tensor/error.h"

namespace rondo {

nlohmann::ordered_json json_of(const Alignment& it) {
  return {{"source", it.source}, {"target", it.target}, {"weights", it.weights}};
}

Alignment alignment_of(const nlohmann::json& json) {
  Alignment it{json.at("source"), json.at("target"), json.at("weights")};
  check_input(it.weights.size() == it.target.size(), "weights must have a list for each target symbol");
  for (const std::vector<float>& row : it.weights)
    check_input(row.size() == it.source.size(), "each list of weights must have one for each source symbol");
  return it;
}

AttentionFile::AttentionFile(const std::string& name)
    : name_(file_to_write("--attention", name, Pipes::accepted)), is_picture_(name.ends_with(".svg")) {}

void AttentionFile::open() {
  file_.reset(std::fopen(name_.c_str(), "w"));
  check(file_ != nullptr, "--attention {}: cannot be written", name_);
}

void AttentionFile::add(const Alignment& alignment) {
  if (!file_) open();
  if (!is_picture_)
    fmt::print(file_.get(), "{}\n", json_of(alignment).dump());
  else if (!alignment.source.empty())
    maps_.push_back({alignment.source, alignment.target, alignment.weights});
}

void AttentionFile::fill(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    try {
      write();
    } catch (const Error& error) {  // the first error is the one to tell
      fmt::print(stderr, "lm: warning: {}\n", error.what());
    }
    throw;
  }
  if (*this && !file_) open();
  write();
}

void AttentionFile::write() {
  if (!file_) return;
  if (is_picture_) fmt::print(file_.get(), "{}", svg_of(maps_));
  check(std::fflush(file_.get()) == 0 && !std::ferror(file_.get()),
        "--attention {}: not written: the disk is full?", name_);
}

}  // namespace rondo
