#include "console/assets.h"

#include <algorithm>

#include "base/bytes.h"

namespace sallyport::console {

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"  // `#embed`
#include "assets.inc"
#pragma clang diagnostic pop

}  // namespace

std::span<const Asset> assets() {
  return kAssets;
}

const Asset* find_asset(std::string_view name) {
  const auto found = std::ranges::find(kAssets, name, &Asset::name);
  return found == std::end(kAssets) ? nullptr : &*found;
}

std::string_view verify_page() {
  return as_text(find_asset("verify.html")->plain);
}

}  // namespace sallyport::console
