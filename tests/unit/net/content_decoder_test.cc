#include "net/content_decoder.h"

#include <brotli/encode.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

namespace sallyport::net {
namespace {

std::string deflated(std::string_view text, int window) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
std::string gzip(std::string_view text) {
  return deflated(text, 15 + 16);
}
std::string brotli(std::string_view text, int window = 22) {
  std::size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 16;
  std::string out(size, '\0');
  EXPECT_EQ(BrotliEncoderCompress(5, window, BROTLI_MODE_GENERIC, text.size(),
                                  reinterpret_cast<const std::uint8_t*>(text.data()), &size,
                                  reinterpret_cast<std::uint8_t*>(out.data())),
            BROTLI_TRUE);
  out.resize(size);
  return out;
}
std::string zstd(std::string_view text, int window = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()) + 100, '\0');
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  // Allocates in two steps if a window is requested: it is reduced to a known size.
  ZSTD_inBuffer from{text.data(), text.size(), 0};
  if (window != 0) ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush);
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end), 0u);
  out.resize(to.pos);
  ZSTD_freeCCtx(context);
  return out;
}

struct Case {
  std::string codings;
  std::string body;
};

// Each coding, the forms of each, and lists.
std::vector<Case> encoded(const std::string& text) {
  return {{"", text},
          {"identity", text},
          {"gzip", gzip(text)},
          {"X-GZip", gzip(text)},
          {"deflate", deflated(text, 15)},
          {"deflate", deflated(text, -15)},
          {"br", brotli(text)},
          {"zstd", zstd(text)},
          {"gzip, br", brotli(gzip(text))},
          {"deflate ,identity,, ZSTD", zstd(deflated(text, 15))},
          {"br,zstd,gzip,deflate", deflated(gzip(zstd(brotli(text))), 15)}};
}

// Returns all output when the body is fed in pieces.
Result<std::string> decoded(const Case& given, std::size_t piece, std::size_t limit) {
  auto decoder = ContentDecoder::open(given.codings, limit);
  if (!decoder) return std::unexpected(decoder.error());
  std::string all;
  for (std::size_t at = 0; at < given.body.size(); at += piece) {
    (*decoder)->feed(std::string_view(given.body).substr(at, piece));
    while (true) {
      const Result<std::string> out = (*decoder)->next();
      if (!out) return std::unexpected(out.error());
      EXPECT_LE(out->size(), ContentDecoder::kPiece);
      if (out->empty()) break;
      all += *out;
    }
  }
  const Result<void> ended = (*decoder)->finish();
  if (!ended) return std::unexpected(ended.error());
  return all;
}

ErrorCode code_of(const Result<std::string>& result) {
  return result ? ErrorCode::Internal : result.error().code;
}

std::string sample(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < size) {
    text += "{\"role\":\"user\",\"n\":" + std::to_string(random() % 1000) + "}";
  }
  text.resize(size);
  return text;
}

// MP-10, MP-11
TEST(ContentDecoderTest, EveryCodingGivesTheSameTextForEveryWayOfCutting) {
  // Also sizes that fill the decoder's buffer exactly.
  for (const std::size_t size : {1u, 2u, 300u, 32'768u, 65'536u, 200'000u}) {
    const std::string text = sample(size);
    for (const Case& given : encoded(text)) {
      for (const std::size_t piece : {1u, 2u, 7u, 4096u, 1u << 20}) {
        if (size > 1000 && piece < 7 && given.body.size() > 10'000) continue;
        const Result<std::string> out = decoded(given, piece, size);
        ASSERT_TRUE(out) << given.codings << ": " << out.error().message;
        EXPECT_EQ(*out, text) << given.codings << " in pieces of " << piece;
      }
      EXPECT_EQ(*ContentDecoder::decode(given.codings, given.body, size), text);
    }
  }
}

// MP-10
TEST(ContentDecoderTest, ABodyOverTheLimitIsExhaustedAndOneAtTheLimitIsNot) {
  const std::string text = sample(70'000);
  for (const Case& given : encoded(text)) {
    EXPECT_EQ(code_of(ContentDecoder::decode(given.codings, given.body, text.size() - 1)),
              ErrorCode::Exhausted)
        << given.codings;
    EXPECT_EQ(code_of(decoded(given, 10, 0)), ErrorCode::Exhausted) << given.codings;
    EXPECT_TRUE(decoded(given, 10, std::size_t(-1))) << given.codings;
  }
}

// MP-10: 64 MiB to 1 GiB of zeros in some kilobytes; at most the limit is ever decoded.
TEST(ContentDecoderTest, ABombStopsAtTheLimit) {
  constexpr std::size_t kLimit = 1u << 20;
  const std::string zeros(64u << 20, '\0');
  std::string frames;
  for (int i = 0; i < 16; ++i) frames += zstd(zeros);
  for (const Case& given :
       {Case{"gzip", gzip(zeros)}, Case{"br", brotli(zeros)}, Case{"deflate", deflated(zeros, -15)},
        Case{"zstd", frames}, Case{"gzip, gzip", gzip(gzip(zeros))}}) {
    auto decoder = ContentDecoder::open(given.codings, kLimit);
    ASSERT_TRUE(decoder);
    (*decoder)->feed(given.body);
    std::size_t count = 0;
    Result<std::string> out = (*decoder)->next();
    for (; out && !out->empty(); out = (*decoder)->next()) count += out->size();
    EXPECT_EQ(code_of(out), ErrorCode::Exhausted) << given.codings;
    EXPECT_LE(count, kLimit) << given.codings;
  }
  // Output between two codings has the same limit: here it decodes to nothing.
  std::string empties;
  for (int i = 0; i < 100'000; ++i) empties += gzip("");
  EXPECT_EQ(code_of(ContentDecoder::decode("gzip, gzip", gzip(empties), kLimit)),
            ErrorCode::Exhausted);
}

// MP-10
TEST(ContentDecoderTest, AWindowOver8MiBIsRefused) {
  const std::string text = sample(1000);
  EXPECT_TRUE(ContentDecoder::decode("zstd", zstd(text, 23), 64u << 20));
  EXPECT_EQ(code_of(ContentDecoder::decode("zstd", zstd(text, 24), 64u << 20)),
            ErrorCode::Exhausted);
  // Only a text of this length needs the whole window.
  EXPECT_TRUE(ContentDecoder::decode("br", brotli(text, 24), 64u << 20));
  const std::string lengthy(20u << 20, 'x');
  EXPECT_TRUE(ContentDecoder::decode("br", brotli(lengthy, 23), 64u << 20));
  EXPECT_EQ(code_of(ContentDecoder::decode("br", brotli(lengthy, 24), 64u << 20)),
            ErrorCode::Exhausted);
}

// MP-10
TEST(ContentDecoderTest, DamageAndAMissingEndAreCorrupt) {
  const std::string text = sample(5000);
  for (const Case& given : encoded(text)) {
    if (given.body == text) continue;
    for (std::size_t kept = 1; kept < given.body.size(); ++kept) {
      const Case cut{given.codings, given.body.substr(0, kept)};
      ASSERT_EQ(code_of(decoded(cut, 4096, 1u << 20)), ErrorCode::Corrupt)
          << given.codings << " cut to " << kept;
    }
    EXPECT_EQ(code_of(ContentDecoder::decode(given.codings, given.body + "x", 1u << 20)),
              ErrorCode::Corrupt)
        << given.codings;
    EXPECT_EQ(code_of(ContentDecoder::decode(given.codings, text, 1u << 20)), ErrorCode::Corrupt)
        << given.codings;
  }
  // The checksums of these two detect a changed byte.
  for (Case given : {Case{"gzip", gzip(text)}, Case{"zstd", zstd(text)}}) {
    given.body[given.body.size() / 2] ^= 1;
    EXPECT_EQ(code_of(ContentDecoder::decode(given.codings, given.body, 1u << 20)),
              ErrorCode::Corrupt)
        << given.codings;
  }
}

TEST(ContentDecoderTest, MembersAndFramesFollowEachOtherWhereTheFormatSaysSo) {
  EXPECT_EQ(*ContentDecoder::decode("gzip", gzip("a") + gzip("") + gzip("b"), 10), "ab");
  EXPECT_EQ(*ContentDecoder::decode("zstd", zstd("a") + zstd("") + zstd("b"), 10), "ab");
  EXPECT_EQ(code_of(ContentDecoder::decode("br", brotli("a") + brotli("b"), 10)),
            ErrorCode::Corrupt);
  EXPECT_EQ(code_of(ContentDecoder::decode("deflate", deflated("a", 15) + deflated("b", 15), 10)),
            ErrorCode::Corrupt);
}

// MP-11: a stream whose encoder flushes is decoded up to the flush.
TEST(ContentDecoderTest, WhatAnEncoderHasFlushedComesAtOnce) {
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  auto decoder = ContentDecoder::open("gzip", 1000);
  for (const std::string event : {"data: 1\n\n", "data: 2\n\n"}) {
    std::string out(1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(event.data()));
    stream.avail_in = static_cast<uInt>(event.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = 1000;
    ASSERT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    out.resize(1000 - stream.avail_out);
    (*decoder)->feed(out);
    EXPECT_EQ(*(*decoder)->next(), event);
    // A repeated call does no harm.
    for (int i = 0; i < 40; ++i) EXPECT_EQ(*(*decoder)->next(), "");
  }
  deflateEnd(&stream);
}

// MP-10
TEST(ContentDecoderTest, UnknownCodingsAndLongListsAreInvalid) {
  for (const std::string codings :
       {"compress", "aes128gcm", "gzip;q=1", "gzip br", "*", "gzip,gzip,gzip,gzip,gzip"}) {
    EXPECT_EQ(code_of(ContentDecoder::decode(codings, "x", 10)), ErrorCode::InvalidInput)
        << codings;
  }
  EXPECT_TRUE(ContentDecoder::open("gzip,gzip,gzip,gzip", 10));
}

TEST(ContentDecoderTest, ABodyWithoutAnyByteIsEmpty) {
  for (const Case& given : encoded("x")) {
    EXPECT_EQ(*ContentDecoder::decode(given.codings, "", 10), "") << given.codings;
  }
}

}  // namespace
}  // namespace sallyport::net
