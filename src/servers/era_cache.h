// Remembers the era of a tool server, so that the next start need not try both.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/clock.h"
#include "mcp/message/era.h"

namespace sallyport::app {

// One small file in the data folder for each server whose first trial failed. What it says is a
// hint: a server that has changed since is tried with the other era too.
class EraCache {
 public:
  // `server`: its command or URL, of which only the digest is kept.
  EraCache(const std::filesystem::path& data_dir, std::string_view server);

  mcp::Era read(WallTime now) const;  // `Unknown`: nothing is known, or it was long ago
  void write(mcp::Era era) const;     // a failure costs no more than a trial next time

 private:
  std::filesystem::path file_;
};

}  // namespace sallyport::app
