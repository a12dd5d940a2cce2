// The numbers that make_golden.py, make_encoder_decoder_golden.py, make_ctc_golden.py and
// make_adaptive_softmax_golden.py (beside this) got from PyTorch. A reader of safetensors of its own,
// independent of data/files/safetensors.h: a length, a JSON header, raw bytes. For tests only; a broken file
// throws std::exception.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rondo {

class Golden {
 public:
  /// recurrent.safetensors, or encoder_decoder, ctc or adaptive_softmax; each is read once.
  static const Golden& file(const std::string& name = "recurrent");
  ~Golden();

  /// All numbers of a tensor, the last dimension fastest. Every tensor of the file is F64.
  std::vector<double> values(const std::string& name) const;
  std::vector<std::int64_t> shape(const std::string& name) const;

  bool has(const std::string& name) const;

  /// A setting CASE.NAME of the metadata; of a list of numbers, the one at `index`.
  double setting(const std::string& name, std::size_t index = 0) const;

 private:
  explicit Golden(const std::string& path);

  struct Header;  // JSON, which is slow to compile
  std::unique_ptr<Header> header_;
  std::string data_;
};

}  // namespace rondo
