// Decodes bodies in the content codings of HTTP while they arrive: `gzip` (and `x-gzip`), `deflate`
// (in zlib's format, or bare as some clients send it), `br`, `zstd`, `identity`, and lists of
// these.
//
//   SALLYPORT_CO_TRY(const auto decoder, ContentDecoder::open(codings, limit));
//   decoder->feed(bytes);
//   while (true) {
//     SALLYPORT_CO_TRY(const std::string piece, decoder->next());
//     if (piece.empty()) break;
//   }
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::net {

// Owned by one reader, on one thread. Uses memory for one piece and one window for each coding: 32
// KiB for `gzip` and `deflate`, at most 8 MiB for `zstd` and for `br`.
class ContentDecoder {
 public:
  static constexpr std::size_t kPiece = 32 * 1024;  // the longest that `next` returns
  static constexpr std::size_t kCodings = 4;        // the longest list

  // `codings`: the value of `Content-Encoding`; an empty one is `identity`. `limit`: the most
  // decoded bytes. `InvalidInput`: a coding is unknown, or the list is too long.
  static Result<std::unique_ptr<ContentDecoder>> open(std::string_view codings, std::size_t limit);

  ~ContentDecoder();
  ContentDecoder(const ContentDecoder&) = delete;

  // True: no byte is changed.
  bool is_identity() const { return stages_.empty(); }

  // Stores encoded bytes until `next` has read them.
  void feed(std::string_view bytes);
  // The next decoded bytes; empty: more must be fed. `Corrupt`: the bytes are damaged, or other
  // bytes follow the end. `Exhausted`: more than the limit is decoded, or the window is too large.
  Result<std::string> next();
  // Called after the last `feed`, when `next` has returned all. `Corrupt`: the end is missing. An
  // empty body is complete.
  Result<void> finish() const;

  // Decodes a whole body. Errors as above.
  static Result<std::string> decode(std::string_view codings, std::string body, std::size_t limit);

 private:
  class Stage;
  class Inflate;
  class Brotli;
  class Zstd;

  explicit ContentDecoder(std::size_t limit);
  static std::unique_ptr<Stage> stage_of(std::string_view coding, std::size_t limit);
  Result<std::string> take(std::size_t stages);  // from the first `stages` stages

  std::size_t limit_;
  std::vector<std::unique_ptr<Stage>> stages_;  // in the order of decoding
  std::string fed_;
  std::size_t passed_ = 0;  // bytes without any coding
};

}  // namespace sallyport::net
