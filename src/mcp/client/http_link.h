// A client over HTTP. Its messages come from many requests; a message to it goes to the stream of
// the request that it belongs to.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>

#include "mcp/client/client_link.h"
#include "mcp/client/outlet.h"
#include "mcp/message/message.h"
#include "net/server_request.h"

namespace sallyport::mcp {

// On the strand of its gateway. The front fills it and reads its outlets.
class HttpLink final : public ClientLink {
 public:
  struct Settings {
    Limits limits{};
    // Several clients of one principal share the gateway. Their ids and tokens are renamed, and
    // messages that belong to none of their requests are dropped.
    bool shared = false;
    OutletLimits outlet{};
    std::size_t kept_streams = 32;       // ended streams that may be read again
    std::size_t kept_bytes = 64u << 20;  // in all of them; the newest stays
  };
  HttpLink(boost::asio::any_io_executor executor, Settings settings);

  // Returns the outlet of the answer. `Conflict`: this id is in use. `Exhausted`: too much waits.
  Result<std::shared_ptr<Outlet>> ask(Message request, const net::ServerRequest& head);
  // Takes a notification or an answer.
  Result<void> receive(std::string text);
  // The client does not want the rest of it.
  void cancel(const Outlet& outlet);
  // The outlet for messages that belong to no request.
  const std::shared_ptr<Outlet>& standing() const { return standing_; }
  std::shared_ptr<Outlet> stream(std::uint64_t number) const;
  bool busy() const { return !pending_.empty(); }

  Async<std::optional<net::Line>> next() override;
  void hang_up() override;
  Async<void> run() override;
  bool send(std::string text, std::string_view about) override;
  // A stream that is not read does not block the others: its messages over the bound are dropped.
  Async<void> room(std::chrono::milliseconds) override { co_return; }
  Async<void> flush(std::chrono::milliseconds longest) override;
  void close() override;
  bool broken() const override { return closed_; }
  std::string contradiction(std::string_view about, const json::value& schema,
                            const json::value& input) const override;

 private:
  struct PendingRequest {
    std::shared_ptr<Outlet> outlet;  // shared with the writer to the client
    std::string id;                  // the client's id
    std::string token{};             // the client's progress token; empty: none
    net::ServerRequest head{};       // its headers, which may repeat arguments
  };
  Result<void> take(std::string text);
  bool answer(std::string text, std::string_view id);
  std::string renamed_back(std::string text, const PendingRequest& pending,
                           std::string_view ours) const;
  void keep(std::shared_ptr<Outlet> outlet);
  void end_cancelled(std::string_view notification);

  boost::asio::any_io_executor executor_;
  Settings settings_;
  std::deque<std::string> received_;
  std::size_t received_bytes_ = 0;
  boost::asio::steady_timer bell_;
  boost::asio::steady_timer end_;
  bool hung_up_ = false;
  bool closed_ = false;
  std::map<std::string, PendingRequest, std::less<>> pending_;  // by the id that the gateway knows
  std::shared_ptr<Outlet> standing_;                            // shared like those above
  std::list<std::shared_ptr<Outlet>> kept_;                     // shared like those above
  std::uint64_t last_request_ = 0;
  std::uint64_t last_stream_ = 0;
};

}  // namespace sallyport::mcp
