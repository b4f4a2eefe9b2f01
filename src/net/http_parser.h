// Parses the response of an HTTP server from bytes in pieces of any size.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace sallyport::net {

// The `cause` of an error: the response ended too early.
inline constexpr const char* kCutBody = "cut_body";

class HttpParser {
 public:
  explicit HttpParser(std::size_t head_bytes);
  HttpParser(const HttpParser&) = delete;
  ~HttpParser();

  // `Corrupt`: it is not HTTP. `Exhausted`: the head, or a line between chunks, is too large.
  Result<void> feed(std::string_view bytes);
  Result<void> feed_end();  // the connection was closed

  bool has_head() const;
  bool done() const;
  bool may_be_reused() const;  // when it is done
  const HttpHead& head() const;
  std::string take_body();  // what was received since the last call

 private:
  class Parser;
  void begin();

  std::size_t head_bytes_;
  std::unique_ptr<Parser> parser_;
  std::string rest_;  // bytes that the parser needs again, with more
};

}  // namespace sallyport::net
