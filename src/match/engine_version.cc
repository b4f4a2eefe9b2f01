#include "match/engine_version.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace sallyport::match {

// Of the sources, made by the build (cmake/EngineDigest.cmake).
extern const char* const kEngineDigest;

std::string engine_version() {
  UVersionInfo unicode{};
  u_getUnicodeVersion(unicode);
  std::array<char, 64> pcre2{};
  pcre2_config(PCRE2_CONFIG_VERSION, pcre2.data());
  return fmt::format("{}|unicode {}.{}.{}|pcre2 {}", kEngineDigest, unicode[0], unicode[1],
                     unicode[2], pcre2.data());
}

}  // namespace sallyport::match
