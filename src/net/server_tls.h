// The TLS identity of a server: its certificate chain and its private key.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "sallyport/result.h"

namespace boost::asio::ssl {
class context;
}

namespace sallyport::net {

// TLS 1.2 and newer, with `http/1.1` alone as its protocol (ALPN). On the thread of its server.
class ServerTls {
 public:
  struct Files {
    std::filesystem::path certificate{};  // PEM, the server's own first
    std::filesystem::path key{};          // PEM, without a passphrase, readable by the owner alone

    bool operator==(const Files&) const = default;
  };
  // `InvalidInput` says which file is wrong, why, and what to do.
  static Result<std::unique_ptr<ServerTls>> load(const Files& files);

  ~ServerTls();

  boost::asio::ssl::context& context() { return *context_; }
  // When the server's own certificate ends.
  std::chrono::system_clock::time_point not_after() const { return not_after_; }

 private:
  ServerTls();

  std::unique_ptr<boost::asio::ssl::context> context_;
  std::chrono::system_clock::time_point not_after_{};
};

}  // namespace sallyport::net
