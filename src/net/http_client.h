// A client of one HTTP/1.1 server, with or without TLS: connections are reused, every wait has a
// deadline, and bodies are read as they arrive.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async.h"
#include "net/url.h"

namespace sallyport::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";
  std::optional<std::string> target{};  // path and query, in place of those of the client's URL
  HttpHeaders headers{};                // `Host` and `Content-Length` are set here
  std::string body{};
};

struct HttpHead {
  unsigned status = 0;
  HttpHeaders headers{};

  // The first header of this name, in any case; empty: there is none.
  std::string_view header(std::string_view name) const;
  // The media type without parameters, in lower case.
  std::string content_type() const;
};

struct HttpClientLimits {
  std::size_t connections = 256;
  std::size_t idle_connections = 8;
  std::size_t head_bytes = 64 * 1024;
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds write{60'000};
  // Common servers close connections that were idle for five seconds, so older ones are not reused.
  std::chrono::milliseconds idle{4'000};
};

// One request and its answer. On the strand of its client, which must outlive it.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  // Returns the head of the response. Redirects are followed if method and server stay the same. An
  // error: `Unavailable` (not reached, or it went away), `Deadline`, `Exhausted` (the head, or too
  // many connections), `Corrupt` (no HTTP), `Cancelled`. Informational answers (1xx) and trailers
  // are dropped.
  virtual Task<HttpHead> send(HttpRequest request, std::chrono::milliseconds longest) = 0;
  // True if the last `send` wrote its whole request. If it then failed, the server may still have
  // executed the request.
  virtual bool written() const = 0;

  // The next bytes of the body; empty: it has ended. Nothing is read from the connection while
  // no caller waits here, and at most 48 KiB are held.
  virtual Task<std::string> read(std::chrono::milliseconds longest) = 0;
  // The rest of the body. `Exhausted`: it is longer than `limit`.
  Task<std::string> read_all(std::size_t limit, std::chrono::milliseconds longest);

  // The body is complete. The connection is reused once the exchange is destroyed.
  virtual bool ended() const = 0;

  // Waiting callers get `Cancelled`; the connection is closed.
  virtual void cancel() = 0;
};

// On a strand, or on a context with one thread.
class HttpClient {
 public:
  struct Settings {
    Url url;
    // Allows connections without TLS to other machines.
    bool allow_plain = false;
    bool follow_redirects = true;  // false: a redirect is an answer like any other
    std::string ca_file{};         // certificates (PEM) that are trusted beside those of the system
    HttpClientLimits limits{};
  };
  // `InvalidInput`: the URL must not be reached without TLS, or `ca_file` cannot be read.
  // `Internal`: no certificates can be checked. TLS is 1.2 or newer, and offers `http/1.1` alone.
  static Result<std::unique_ptr<HttpClient>> open(boost::asio::any_io_executor executor,
                                                  Settings settings);
  virtual ~HttpClient() = default;

  virtual std::unique_ptr<HttpExchange> exchange() = 0;
};

}  // namespace sallyport::net
