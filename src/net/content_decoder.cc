#include "net/content_decoder.h"

#include <brotli/decode.h>
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/lower_case.h"
#include "base/try.h"

namespace sallyport::net {

namespace {

constexpr int kZstdWindow = 23;  // 8 MiB, the most that RFC 9659 allows
// The memory limit of one decoder: a window of 8 MiB, the smaller one before it, and tables.
constexpr std::size_t kBrotliMemory = 13u << 20;

// A bounded memory for a library that allocates it in pieces.
class BoundedMemory {
 public:
  explicit BoundedMemory(std::size_t most) : left_(most) {}

  static void* take(void* self, std::size_t size) {
    return static_cast<BoundedMemory*>(self)->take(size);
  }
  static void give_back(void* self, void* at) {
    if (at != nullptr) static_cast<BoundedMemory*>(self)->give_back(at);
  }
  bool refused() const { return refused_; }

 private:
  // The size precedes each piece.
  static constexpr std::size_t kHead = alignof(std::max_align_t);

  void* take(std::size_t size) {
    refused_ = refused_ || size > left_;
    if (refused_) return nullptr;
    auto* const whole = static_cast<std::byte*>(std::malloc(size + kHead));
    if (whole == nullptr) return nullptr;
    std::memcpy(whole, &size, sizeof size);
    left_ -= size;
    return whole + kHead;
  }

  void give_back(void* at) {
    std::byte* const whole = static_cast<std::byte*>(at) - kHead;
    std::size_t size = 0;
    std::memcpy(&size, whole, sizeof size);
    left_ += size;
    std::free(whole);
  }

  std::size_t left_;
  bool refused_ = false;
};

std::unexpected<Error> over(std::size_t limit) {
  return fail(ErrorCode::Exhausted, fmt::format("the decoded body is over {} bytes", limit));
}

std::unexpected<Error> damaged(std::string_view coding) {
  return fail(ErrorCode::Corrupt, fmt::format("the body is not valid `{}` data", coding));
}

// The most that one coding may pass to the next. Data that does not compress grows a little.
std::size_t between(std::size_t limit) {
  const std::size_t more = limit / 64 + ContentDecoder::kPiece;
  return limit > std::numeric_limits<std::size_t>::max() - more ? limit : limit + more;
}

// The two bytes of RFC 1950. Bare deflate data begins like this only with padding that no encoder
// writes.
bool begins_like_zlib(unsigned char first, unsigned char second) {
  return (first & 0x0F) == 8 && first >> 4 <= 7 && (first * 256 + second) % 31 == 0;
}

}  // namespace

// One coding, with a limit of its output.
class ContentDecoder::Stage {
 public:
  Stage(std::string_view coding, std::size_t limit) : coding_(coding), limit_(limit) {}
  virtual ~Stage() = default;

  void feed(std::string bytes) {
    begun_ = begun_ || !bytes.empty();
    input_ = rest().empty() ? std::move(bytes) : std::string(rest()) + bytes;
    at_ = 0;
  }
  // Empty: more input is needed.
  Result<std::string> next() {
    const std::size_t left = limit_ - count_;
    std::string out(left < kPiece ? left + 1 : kPiece, '\0');
    SALLYPORT_TRY(const std::size_t made, decode(out.data(), out.size()));
    count_ += made;
    if (count_ > limit_) return over(limit_);
    out.resize(made);
    return out;
  }
  Result<void> finish() const {
    if (begun_ && !ended_) {
      return fail(ErrorCode::Corrupt, fmt::format("the `{}` data ends too early", coding_));
    }
    return {};
  }

 protected:
  // Fills `to`, or consumes as much input as possible.
  virtual Result<std::size_t> decode(char* to, std::size_t room) = 0;

  std::string_view rest() const { return std::string_view(input_).substr(at_); }

  std::string_view coding_;
  std::string input_;
  std::size_t at_ = 0;  // of `input_`, read so far
  bool ended_ = false;  // a whole frame was read, and no other one has begun

 private:
  std::size_t limit_;
  std::size_t count_ = 0;
  bool begun_ = false;
};

class ContentDecoder::Inflate final : public Stage {
 public:
  Inflate(std::string_view coding, bool gzip, std::size_t limit)
      : Stage(coding, limit), gzip_(gzip) {}
  ~Inflate() override {
    if (open_) inflateEnd(&stream_);
  }

 private:
  Result<std::size_t> decode(char* to, std::size_t room) override {
    std::size_t made = 0;
    while (made < room) {
      if (!open_ && !open()) return made;
      if (ended_) {
        if (rest().empty()) return made;
        // RFC 1952 lets members follow each other.
        if (!gzip_) return damaged(coding_);
        inflateReset(&stream_);
        ended_ = false;
      }
      const std::string_view in = rest();
      // zlib does not write to its input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      stream_.avail_in = static_cast<uInt>(in.size());
      stream_.next_out = reinterpret_cast<Bytef*>(to + made);
      stream_.avail_out = static_cast<uInt>(room - made);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      at_ += in.size() - stream_.avail_in;
      made = room - stream_.avail_out;
      if (state == Z_STREAM_END) {
        ended_ = true;
      } else if (state == Z_BUF_ERROR || (state == Z_OK && rest().empty() && made < room)) {
        return made;
      } else if (state != Z_OK) {
        return damaged(coding_);
      }
    }
    return made;
  }

  // False: more bytes are needed to know the format.
  bool open() {
    int window = MAX_WBITS + 16;
    if (!gzip_) {
      const std::string_view head = rest();
      if (head.size() < 2) return false;
      const bool zlib = begins_like_zlib(static_cast<unsigned char>(head[0]),
                                         static_cast<unsigned char>(head[1]));
      window = zlib ? MAX_WBITS : -MAX_WBITS;
    }
    if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
    open_ = true;
    return true;
  }

  bool gzip_;
  bool open_ = false;
  z_stream stream_{};
};

class ContentDecoder::Brotli final : public Stage {
 public:
  explicit Brotli(std::size_t limit)
      : Stage("br", limit),
        state_(
            BrotliDecoderCreateInstance(BoundedMemory::take, BoundedMemory::give_back, &memory_)) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~Brotli() override { BrotliDecoderDestroyInstance(state_); }

 private:
  Result<std::size_t> decode(char* to, std::size_t room) override {
    if (ended_) {
      if (!rest().empty()) return damaged(coding_);
      return std::size_t{0};
    }
    const std::string_view in = rest();
    std::size_t in_left = in.size();
    const auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    std::size_t out_left = room;
    auto* next_out = reinterpret_cast<std::uint8_t*>(to);
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    at_ += in.size() - in_left;
    if (result == BROTLI_DECODER_RESULT_ERROR) {
      if (!memory_.refused()) return damaged(coding_);
      return fail(ErrorCode::Exhausted, "the `br` data needs a window over 8 MiB");
    }
    ended_ = result == BROTLI_DECODER_RESULT_SUCCESS;
    if (ended_ && !rest().empty()) return damaged(coding_);
    return room - out_left;
  }

  BoundedMemory memory_{kBrotliMemory};
  BrotliDecoderState* state_;
};

class ContentDecoder::Zstd final : public Stage {
 public:
  explicit Zstd(std::size_t limit) : Stage("zstd", limit), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindow);
  }
  ~Zstd() override { ZSTD_freeDCtx(context_); }

 private:
  Result<std::size_t> decode(char* to, std::size_t room) override {
    ZSTD_outBuffer out{to, room, 0};
    while (out.pos < room && !(rest().empty() && drained_)) {
      const std::string_view bytes = rest();
      ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
      const std::size_t state = ZSTD_decompressStream(context_, &out, &in);
      at_ += in.pos;
      if (ZSTD_isError(state) != 0) return failed(state);
      // At the end of a frame nothing is left to drain. Another call would begin a new frame.
      drained_ = out.pos < room || state == 0;
      // Frames follow each other (RFC 8878, section 3).
      ended_ = state == 0;
    }
    return out.pos;
  }

  std::unexpected<Error> failed(std::size_t state) const {
    if (ZSTD_getErrorCode(state) == ZSTD_error_frameParameter_windowTooLarge) {
      return fail(ErrorCode::Exhausted, "the `zstd` data needs a window over 8 MiB");
    }
    if (ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    return damaged(coding_);
  }

  ZSTD_DCtx* context_;
  bool drained_ = true;  // nothing decoded is left inside
};

ContentDecoder::ContentDecoder(std::size_t limit) : limit_(limit) {}
ContentDecoder::~ContentDecoder() = default;

std::unique_ptr<ContentDecoder::Stage> ContentDecoder::stage_of(std::string_view coding,
                                                                std::size_t limit) {
  if (coding == "gzip" || coding == "x-gzip") return std::make_unique<Inflate>("gzip", true, limit);
  if (coding == "deflate") return std::make_unique<Inflate>("deflate", false, limit);
  if (coding == "br") return std::make_unique<Brotli>(limit);
  if (coding == "zstd") return std::make_unique<Zstd>(limit);
  return nullptr;
}

Result<std::unique_ptr<ContentDecoder>> ContentDecoder::open(std::string_view codings,
                                                             std::size_t limit) {
  std::unique_ptr<ContentDecoder> decoder(new ContentDecoder(limit));
  std::size_t count = 0;
  while (!codings.empty()) {
    const std::size_t comma = std::min(codings.find(','), codings.size());
    std::string_view coding = codings.substr(0, comma);
    codings.remove_prefix(std::min(comma + 1, codings.size()));
    while (coding.starts_with(' ') || coding.starts_with('\t')) coding.remove_prefix(1);
    while (coding.ends_with(' ') || coding.ends_with('\t')) coding.remove_suffix(1);
    if (coding.empty()) continue;
    if (++count > kCodings) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the body has over {} content codings", kCodings));
    }
    const std::string name = lower_case(coding);
    if (name == "identity") continue;
    const bool innermost = decoder->stages_.empty();
    std::unique_ptr<Stage> stage = stage_of(name, innermost ? limit : between(limit));
    if (!stage) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the content coding `{}` is not known; use gzip, deflate, br or zstd",
                              coding.substr(0, 40)));
    }
    // The last coding in the list was applied last.
    decoder->stages_.insert(decoder->stages_.begin(), std::move(stage));
  }
  return decoder;
}

void ContentDecoder::feed(std::string_view bytes) {
  fed_.append(bytes);
}

Result<std::string> ContentDecoder::next() {
  if (!stages_.empty()) return take(stages_.size());
  std::string piece;
  if (fed_.size() <= kPiece) {
    piece = std::exchange(fed_, {});
  } else {
    piece = fed_.substr(0, kPiece);
    fed_.erase(0, kPiece);
  }
  passed_ += piece.size();
  if (passed_ > limit_) return over(limit_);
  return piece;
}

Result<std::string> ContentDecoder::take(std::size_t stages) {
  if (stages == 0) return std::exchange(fed_, {});
  Stage& stage = *stages_[stages - 1];
  while (true) {
    SALLYPORT_TRY(std::string out, stage.next());
    if (!out.empty()) return out;
    SALLYPORT_TRY(std::string in, take(stages - 1));
    if (in.empty()) return std::string();
    stage.feed(std::move(in));
  }
}

Result<void> ContentDecoder::finish() const {
  for (const auto& stage : stages_) SALLYPORT_CHECK_OK(stage->finish());
  return {};
}

Result<std::string> ContentDecoder::decode(std::string_view codings, std::string body,
                                           std::size_t limit) {
  SALLYPORT_TRY(const auto decoder, open(codings, limit));
  if (decoder->is_identity()) {
    if (body.size() > limit) return over(limit);
    return body;
  }
  decoder->fed_ = std::move(body);
  std::string all;
  while (true) {
    SALLYPORT_TRY(const std::string piece, decoder->next());
    if (piece.empty()) break;
    const std::size_t size = all.size() + piece.size();
    // Doubles as strings do, but never past the limit.
    if (size > all.capacity()) all.reserve(std::min(limit, 2 * size));
    all += piece;
  }
  SALLYPORT_CHECK_OK(decoder->finish());
  return all;
}

}  // namespace sallyport::net
