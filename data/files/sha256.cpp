// SHA-256 by libcrypto.
#include "data/files/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "tensor/error.h"

namespace rondo {

namespace {
void check_digest(bool done) { check(done, "[sha256] libcrypto refused to compute a digest"); }
}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  check_digest(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::update(std::string_view bytes) {
  check_digest(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  check_digest(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace rondo
