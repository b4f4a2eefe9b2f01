// One connection to an HTTP server, with or without TLS.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <string_view>

#include "base/async.h"
#include "net/url.h"

namespace sallyport::net {

class HttpWire {
 public:
  // `only_here`: addresses of other machines are skipped.
  static std::unique_ptr<HttpWire> make(boost::asio::any_io_executor executor,
                                        boost::asio::ssl::context& tls, Url url, bool only_here);
  virtual ~HttpWire() = default;

  virtual Task<void> connect(std::chrono::milliseconds longest) = 0;
  virtual Task<void> write(std::string_view bytes, std::chrono::milliseconds longest) = 0;
  // 0: it has ended.
  virtual Task<std::size_t> read(char* to, std::size_t most, std::chrono::milliseconds longest) = 0;

  // True if the server has sent nothing since the last response. Does not wait.
  virtual bool is_quiet() = 0;
  virtual void close() = 0;
};

}  // namespace sallyport::net
