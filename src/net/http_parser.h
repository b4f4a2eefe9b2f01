// The answer of an HTTP server out of bytes that arrive in any pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace sallyport::net {

// The `cause` of an error that says that an answer broke off before its end.
inline constexpr const char* kCutBody = "cut_body";

class HttpParser {
 public:
  explicit HttpParser(std::size_t head_bytes);
  HttpParser(const HttpParser&) = delete;
  ~HttpParser();

  // `Corrupt`: this is no HTTP. `Exhausted`: the head, or a line between
  // chunks, is too large.
  Result<void> feed(std::string_view bytes);
  Result<void> feed_end();  // the connection was closed

  bool has_head() const;
  bool done() const;
  bool may_be_reused() const;  // when it is done
  const HttpHead& head() const;
  std::string take_body();  // what has come of it since

 private:
  class Parser;
  void begin();

  std::size_t head_bytes_;
  std::unique_ptr<Parser> parser_;
  std::string rest_;  // bytes that the parser wants to see again with more
};

}  // namespace sallyport::net
