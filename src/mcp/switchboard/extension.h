// The client of a switchboard, as the gateway of one server sees it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>

#include "mcp/client/client_link.h"

namespace sallyport::mcp {

class Switchboard;

// Owned by its gateway. The switchboard outlives it, or has ended its conversation.
class Extension final : public ClientLink {
 public:
  // `bound`: messages that wait for the gateway.
  Extension(Switchboard& board, std::size_t party, boost::asio::any_io_executor executor,
            std::size_t bound);

  // False: too much waits.
  bool put(net::Line line);
  void finish();  // no more messages are queued; queued ones are still delivered

  Async<std::optional<net::Line>> next() override;
  void hang_up() override;
  Async<void> run() override;
  bool send(std::string text, std::string_view about) override;
  Async<void> room(std::chrono::milliseconds longest) override;
  Async<void> flush(std::chrono::milliseconds longest) override;
  void close() override;
  bool broken() const override;
  std::string contradiction(std::string_view about, const json::value& schema,
                            const json::value& input) const override;

 private:
  Switchboard& board_;
  std::size_t party_;
  std::size_t bound_;
  std::deque<net::Line> waiting_;
  boost::asio::steady_timer more_;
  boost::asio::steady_timer closed_;
  bool ended_ = false;
  bool is_closed_ = false;
};

}  // namespace sallyport::mcp
