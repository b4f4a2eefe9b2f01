// Encoded bodies: the same result for every way of cutting them, and never more than the limit.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "net/content_decoder.h"

namespace {

using sallyport::ErrorCode;
using sallyport::net::ContentDecoder;

constexpr std::size_t kLimit = 64 * 1024;
constexpr std::array kCodings{"gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate"};

struct Seen {
  std::string text;
  ErrorCode code = ErrorCode::Internal;  // this one: success

  bool operator==(const Seen&) const = default;
};

Seen read(std::string_view codings, std::string_view body, std::size_t piece) {
  const auto decoder = ContentDecoder::open(codings, kLimit);
  Seen seen;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    (*decoder)->feed(body.substr(at, piece));
    while (true) {
      const auto out = (*decoder)->next();
      if (!out) return {"", out.error().code};
      if (out->empty()) break;
      seen.text += *out;
      SALLYPORT_INVARIANT(seen.text.size() <= kLimit);
    }
  }
  const auto ended = (*decoder)->finish();
  if (!ended) return {"", ended.error().code};
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view codings = kCodings[data[0] % kCodings.size()];
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Seen whole = read(codings, body, body.size() + 1);
  const Seen cut = read(codings, body, std::size_t{data[1]} + 1);
  // A body may be damaged and too long: the cuts determine which fault is found first.
  SALLYPORT_INVARIANT((whole.code == ErrorCode::Internal) == (cut.code == ErrorCode::Internal));
  SALLYPORT_INVARIANT(whole.text == cut.text);
  return 0;
}
