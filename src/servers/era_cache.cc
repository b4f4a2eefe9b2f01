#include "servers/era_cache.h"

#include <fmt/format.h>

#include <fstream>

#include "base/digest.h"
#include "base/encoding.h"
#include "machine/replaced_file.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kLegacy = "legacy";
constexpr std::string_view kModern = "modern";
// A server may learn the other era.
constexpr auto kGoodFor = std::chrono::hours(7 * 24);

}  // namespace

EraCache::EraCache(const std::filesystem::path& data_dir, std::string_view server)
    : file_(data_dir / "eras" / hex(sha256(server))) {}

mcp::Era EraCache::read(WallTime now) const {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file_, error);
  if (error || now - std::chrono::file_clock::to_sys(written) > kGoodFor) return mcp::Era::Unknown;
  std::string word;
  std::ifstream(file_) >> word;
  if (word == kLegacy) return mcp::Era::Legacy;
  return word == kModern ? mcp::Era::Modern : mcp::Era::Unknown;
}

void EraCache::write(mcp::Era era) const {
  (void)replace_file(file_, fmt::format("{}\n", era == mcp::Era::Modern ? kModern : kLegacy));
}

}  // namespace sallyport::app
