// The files of the web console, compiled into the program. console/build.sh makes them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sallyport::console {

enum class ContentType { Script, Style, Icon, Page, Json, Text };
enum class Keeping {
  Cached,    // its name holds a hash of its content, so a browser may keep it
  Shell,     // the page that loads the console; never cached, so that an upgrade takes effect
  Fresh,     // may be cached, but is revalidated each time
  Download,  // saved, not shown: the content policy of the console's pages would block its script
};

struct Asset {
  std::string_view name;  // below `/console/`
  ContentType type;
  Keeping keeping;
  std::span<const std::uint8_t> plain;
  std::span<const std::uint8_t> gzip;
  std::string_view digest;  // of `plain`
};

std::span<const Asset> assets();

// Null: no such file.
const Asset* find_asset(std::string_view name);

// The page that checks receipts from disk, with no server (`sallyport verify --page`).
std::string_view verify_page();

}  // namespace sallyport::console
