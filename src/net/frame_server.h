// Answers one question a connection, on a Unix socket, for programs of this user or of every user:
// bounded in connections, sizes and time.
//
//   FrameServer server(executor, {.greeting = "echo/1"}, log);
//   SALLYPORT_CHECK_OK(server.listen(folder, "echo.sock"));
//   co_await server.run(answer);   // until stop()
//
// A client is greeted with a frame, sends a frame, gets one, and is disconnected, unless the answer
// continues the connection. A client that is not greeted has not asked anything: there are too many
// clients, or the server is not well.
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
    // Takes over the descriptor behind the answer, and closes it. Empty: the connection ends.
    std::function<Async<void>(int descriptor)> then{};
  };
  // No value: the question gets no answer.
  using Answer = std::function<Async<std::optional<Response>>(Peer peer, std::string question)>;
  // Until `stop`, and until those who are being answered have their answer.
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
