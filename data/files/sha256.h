// SHA-256 (FIPS 180-4) by libcrypto, which uses the instructions that CPUs have for it; in the library for
// inference alone by code of its own (lm/inference/alone/sha256.cpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of libcrypto

namespace rondo {

/// The SHA-256 of data that arrives in parts.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  /// In lower-case hexadecimal. Ends the computation; call it once.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};
inline std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

}  // namespace rondo
