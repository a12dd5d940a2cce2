// Whether the tests run under the address sanitizer, which g++ and clang tell in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define RONDO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RONDO_ADDRESS_SANITIZER 1
#endif
#endif
