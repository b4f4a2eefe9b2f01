// Answers one request per connection on a Unix socket, for programs of this user or of every user.
// Connections, sizes and times are bounded.
//
//   FrameServer server(executor, {.greeting = "echo/1"}, log);
//   SALLYPORT_CHECK_OK(server.listen(folder, "echo.sock"));
//   co_await server.run(answer);   // until stop()
//
// The server sends a greeting frame, reads a frame, answers with a frame and disconnects, unless
// the response takes over the connection. A client without a greeting has sent no request: there
// are too many clients, or the server is not well.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "net/quota.h"
#include "net/task_group.h"
#include "net/unix_socket.h"

namespace sallyport::net {

// On a strand, or on a context with one thread.
class FrameServer {
 public:
  struct Settings {
    std::string greeting;
    Reach reach = Reach::Private;
    std::size_t connections = 32;
    std::size_t connections_each = 32;  // of one user
    std::size_t question_bytes = 1u << 20;
    std::chrono::milliseconds read{2000};
    std::chrono::milliseconds write{5000};
  };
  using Log = std::function<void(std::string_view)>;
  FrameServer(boost::asio::any_io_executor executor, Settings settings, Log log);
  FrameServer(const FrameServer&) = delete;
  ~FrameServer();  // removes the name

  Result<void> listen(const std::filesystem::path& folder, const std::string& name);

  struct Response {
    std::string frame;
    // Takes over the descriptor after the response, and closes it. Empty: the connection ends.
    std::function<Async<void>(int descriptor)> then{};
  };
  // No value: the request gets no response.
  using Answer = std::function<Async<std::optional<Response>>(Peer peer, std::string question)>;
  // Runs until `stop`. Open requests then have `patience` to end.
  Async<void> run(Answer answer, std::chrono::milliseconds patience);
  void stop();

 private:
  struct Acceptor;
  class Connection;

  Async<void> accept(Answer answer);

  boost::asio::any_io_executor executor_;
  Settings settings_;
  std::optional<UnixName> name_;
  std::unique_ptr<Acceptor> acceptor_;
  Quota places_;  // connections, by uid
  TaskGroup tasks_;
  bool stopping_ = false;
};

}  // namespace sallyport::net
