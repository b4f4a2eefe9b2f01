#include "net/http_parser.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "net/folded_header.h"

namespace sallyport::net {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

namespace {

std::string owned(string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

class HttpParser::Parser final : public http::basic_parser<false> {
 public:
  HttpHead head{};
  std::string body{};

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override {
    head.status = static_cast<unsigned>(status);
  }
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    // Trailers after the last chunk are not part of the head.
    if (!whole_) head.headers.emplace_back(owned(name), owned(value));
  }
  void on_header_impl(error_code&) override { whole_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}

  bool whole_ = false;  // the head
};

HttpParser::HttpParser(std::size_t head_bytes) : head_bytes_(head_bytes) {
  begin();
}

void HttpParser::begin() {
  parser_ = std::make_unique<Parser>();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(head_bytes_));
  parser_->body_limit(boost::none);
}

HttpParser::~HttpParser() = default;

Result<void> HttpParser::feed(std::string_view bytes) {
  // Most bytes are consumed at once and not stored.
  const bool kept = !rest_.empty();
  if (kept) rest_.append(bytes);
  const std::string_view all = kept ? std::string_view(rest_) : bytes;
  std::size_t used = 0;
  while (used < all.size() && !parser_->is_done()) {
    if (!parser_->is_header_done() && has_folded_line(all.substr(used))) {
      return fail(ErrorCode::Corrupt, "the server folds a header line, which HTTP/1.1 forbids");
    }
    error_code error;
    const std::size_t taken =
        parser_->put(boost::asio::const_buffer(all.data() + used, all.size() - used), error);
    used += taken;
    if (error == http::error::need_more) break;
    if (error == http::error::header_limit) {
      return fail(ErrorCode::Exhausted, "the server's answer begins with too many headers");
    }
    if (error) {
      return fail(ErrorCode::Corrupt,
                  fmt::format("the server does not speak HTTP: {}", error.message()));
    }
    // An informational response (1xx) is not the answer.
    if (parser_->is_done() && parser_->head.status / 100 == 1) begin();
    if (taken == 0) break;
  }
  if (kept) {
    rest_.erase(0, used);
  } else {
    rest_.assign(all.substr(used));
  }
  // The parser does not count chunk extensions and trailers.
  if (!parser_->is_done() && rest_.size() > head_bytes_) {
    return fail(ErrorCode::Exhausted, "the server's answer has a line that is too long");
  }
  return {};
}

Result<void> HttpParser::feed_end() {
  error_code error;
  if (parser_->got_some()) parser_->put_eof(error);
  if (error || !parser_->is_done()) {
    return fail(ErrorCode::Unavailable, "the server went away in the middle of its answer", {},
                kCutBody);
  }
  return {};
}

bool HttpParser::has_head() const {
  return parser_->is_header_done();
}
bool HttpParser::done() const {
  return parser_->is_done();
}
// Bytes after the response belong to no request.
bool HttpParser::may_be_reused() const {
  return parser_->is_done() && parser_->keep_alive() && rest_.empty();
}
const HttpHead& HttpParser::head() const {
  return parser_->head;
}
std::string HttpParser::take_body() {
  return std::exchange(parser_->body, {});
}

}  // namespace sallyport::net
