// The file of --attention.
#include "lm/program/attention_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lm/program/output_file.h"
#include "tensor/error.h"

namespace rondo {

AttentionFile::AttentionFile(const std::string& name)
    : name_(file_to_write("--attention", name, Pipes::accepted)), is_picture_(name.ends_with(".svg")) {}

void AttentionFile::open() {
  file_.reset(std::fopen(name_.c_str(), "w"));
  check(file_ != nullptr, "--attention {}: cannot be written", name_);
}

void AttentionFile::add(Alignment alignment) {
  if (!file_) open();
  if (!is_picture_)
    fmt::print(file_.get(), "{}\n", json_of(alignment).dump());
  else if (!alignment.source.empty())
    alignments_.push_back(std::move(alignment));
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
  if (is_picture_) fmt::print(file_.get(), "{}", svg_of(alignments_));
  check(std::fflush(file_.get()) == 0 && !std::ferror(file_.get()),
        "--attention {}: not written: the disk is full?", name_);
}

}  // namespace rondo
