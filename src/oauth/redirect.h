// The redirect target of one login: a page on this machine (RFC 8252).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/async.h"
#include "oauth/form.h"

namespace sallyport::oauth {

class Redirect {
 public:
  // On 127.0.0.1. Port 0: any. Only a request with `state` counts. `Unavailable`: the port is used.
  static Result<std::unique_ptr<Redirect>> open(boost::asio::any_io_executor executor,
                                                std::uint16_t port, std::string state);
  virtual ~Redirect() = default;

  virtual std::string uri() const = 0;
  // The parameters of the redirect. `Deadline`: the browser did not come back.
  virtual Task<Fields> wait(std::chrono::milliseconds longest) = 0;
};

}  // namespace sallyport::oauth
