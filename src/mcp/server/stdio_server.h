// A tool server over standard streams. Starts the process, keeps it running, and ends it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <vector>

#include "mcp/server/pending_requests.h"
#include "mcp/server/server.h"
#include "net/child_process.h"
#include "net/line_reader.h"
#include "net/line_writer.h"
#include "net/task_group.h"

namespace sallyport::mcp {

class StdioServer final : public Server {
 public:
  // `run_as`: the account that it runs as. No value: that of this process.
  StdioServer(Parts parts, std::vector<std::string> command, std::optional<net::RunAs> run_as);
  // A maker of such servers.
  static ServerMaker maker(std::vector<std::string> command,
                           std::optional<net::RunAs> run_as = std::nullopt);

  // Starts the process, and restarts it when it ends.
  Task<void> run() override;
  Async<void> stop() override;

  bool up() const override { return connection_ != nullptr; }
  void ready() override {
    was_ready_ = true;
    is_ready_ = true;
  }

  Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter) override;
  void abandon(std::uint64_t id, std::string_view reason) override;
  bool send(std::string text) override;

 private:
  struct Connection {
    Connection(std::unique_ptr<net::ChildProcess> child, const Limits& limits);
    std::unique_ptr<net::ChildProcess> process;
    net::LineReader reader;
    net::LineReader error_reader;
    net::LineWriter writer;
  };

  Async<void> serve();
  Async<void> on_line(net::Line line);
  Async<void> on_message(net::Line line);
  Async<void> copy_errors();
  Async<void> pause(std::chrono::milliseconds longest);

  Parts parts_;
  const Limits& limits_;
  std::vector<std::string> command_;
  std::optional<net::RunAs> run_as_;
  std::unique_ptr<Connection> connection_;
  PendingRequests pending_;
  bool was_ready_ = false;
  bool is_ready_ = false;  // the process that runs now
  bool useful_ = false;    // it has answered something since
  bool stopping_ = false;
  boost::asio::steady_timer pause_;
};

}  // namespace sallyport::mcp
