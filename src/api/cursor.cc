#include "api/cursor.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "oauth/base64url.h"

namespace sallyport::api {

namespace {

constexpr std::size_t kNumber = 8;
constexpr std::size_t kDigest = 16;
constexpr std::size_t kSize = 1 + 2 * kNumber + kDigest;

void append(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = at; i < at + kNumber; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

// The digest covers the position too, so a modified cursor is detected.
std::string digest_of(std::string_view head, std::string_view list, const Query& query) {
  std::string filters;
  for (const auto& [name, value] : query.all()) {
    if (name == "cursor" || name == "limit" || name == "tree_size" || value.empty()) continue;
    filters += fmt::format("{}:{}={}:{}\n", name.size(), name, value.size(), value);
  }
  const Hash hash = sha256({head, list, "\n", filters});
  return std::string(text_of(hash).substr(0, kDigest));
}

}  // namespace

std::string Cursor::text(std::string_view list, const Query& query) const {
  std::string bytes(1, back ? 'b' : 'f');
  append(bytes, position);
  append(bytes, tree_size);
  bytes += digest_of(bytes, list, query);
  return oauth::base64url(bytes);
}

Result<Cursor> Cursor::parse(std::string_view text, std::string_view list, const Query& query) {
  const auto bytes = text.size() <= 2 * kSize ? oauth::from_base64url(text) : std::nullopt;
  const bool shaped = bytes && bytes->size() == kSize && ((*bytes)[0] == 'f' || (*bytes)[0] == 'b');
  const std::string_view all = shaped ? std::string_view(*bytes) : std::string_view();
  if (!shaped ||
      digest_of(all.substr(0, kSize - kDigest), list, query) != all.substr(kSize - kDigest)) {
    return fail(ErrorCode::InvalidInput,
                "this cursor belongs to another list or to other filters; begin without one",
                "cursor", "bad_cursor");
  }
  return Cursor{number_at(all, 1), number_at(all, 1 + kNumber), all[0] == 'b'};
}

}  // namespace sallyport::api
