// Where the browser comes back to: a page on this machine, for one login (RFC 8252).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/async.h"
#include "oauth/form.h"

namespace sallyport::oauth {

class Redirect {
 public:
  // On 127.0.0.1. Port 0: any. Only what brings `state` is taken. `Unavailable`: the port is used.
  static Result<std::unique_ptr<Redirect>> open(boost::asio::any_io_executor executor,
                                                std::uint16_t port, std::string state);
  virtual ~Redirect() = default;

  virtual std::string uri() const = 0;
  // What the browser brought. `Deadline`: it did not come back.
  virtual Task<Fields> wait(std::chrono::milliseconds longest) = 0;
};

}  // namespace sallyport::oauth
