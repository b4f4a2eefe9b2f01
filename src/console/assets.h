// The files of the web console, as bytes inside the program: console/build.sh makes them, and
// nothing is read from disk for them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sallyport::console {

enum class ContentType { Script, Style, Icon, Page, Json, Text };
enum class Keeping {
  Cached,    // its name holds a hash of its content, so a browser may keep it
  Shell,     // the page that loads the console; never kept, so that an upgrade is seen
  Fresh,     // may be kept, but is asked for again each time
  Download,  // saved and not shown: the policy of the console's pages would block its script
};

struct Asset {
  std::string_view name;  // below `/console/`
  ContentType type;
  Keeping keeping;
  std::span<const std::uint8_t> plain;
  std::span<const std::uint8_t> gzip;
  std::string_view digest;  // of the plain form
};

std::span<const Asset> assets();

// Null: there is none of this name.
const Asset* find_asset(std::string_view name);

// The page that checks receipts from disk, with no server (`sallyport verify --page`).
std::string_view verify_page();

}  // namespace sallyport::console
