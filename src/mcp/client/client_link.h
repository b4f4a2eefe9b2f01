// The client of a gateway, over any transport.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "base/async.h"
#include "mcp/message/limits.h"
#include "net/line_reader.h"
#include "net/line_writer.h"
#include "sallyport/json.h"

namespace sallyport::mcp {

// The connection to a client. Its gateway owns it and uses it on its strand.
class ClientLink {
 public:
  virtual ~ClientLink() = default;

  // Returns the next message of the client, unchanged. No value: the client has left, or `hang_up`
  // was called.
  virtual Async<std::optional<net::Line>> next() = 0;
  virtual void hang_up() = 0;  // ends `next`

  // Moves sent messages to the client, until `close`.
  virtual Async<void> run() = 0;
  // Sends a message. `about` is the id of the client's request that the message belongs to. It is
  // empty for a response, which names its own request, and for a message that belongs to none.
  // False: the message was dropped, because the queue is full or the client no longer reads.
  virtual bool send(std::string text, std::string_view about) = 0;
  // Returns when there is room, the client no longer reads, or `longest` has passed.
  virtual Async<void> room(std::chrono::milliseconds longest) = 0;
  virtual Async<void> flush(std::chrono::milliseconds longest) = 0;
  virtual void close() = 0;
  virtual bool broken() const = 0;  // the client no longer reads

  // Returns where the headers of a call contradict its arguments, given the tool's input schema.
  // Empty: nowhere.
  virtual std::string contradiction(std::string_view /*about*/, const json::value& /*schema*/,
                                    const json::value& /*input*/) const {
    return {};
  }
};

// A client on a pair of descriptors, one message on each line.
class StreamLink final : public ClientLink {
 public:
  // Takes ownership of both descriptors.
  StreamLink(boost::asio::any_io_executor executor, const Limits& limits, int input, int output);

  Async<std::optional<net::Line>> next() override { return reader_.next(); }
  void hang_up() override;
  Async<void> run() override { return writer_.run(); }
  bool send(std::string text, std::string_view) override { return writer_.push(std::move(text)); }
  Async<void> room(std::chrono::milliseconds longest) override { return writer_.room(longest); }
  Async<void> flush(std::chrono::milliseconds longest) override;
  void close() override { writer_.close(); }
  bool broken() const override { return writer_.broken(); }

 private:
  boost::asio::posix::stream_descriptor input_;
  boost::asio::posix::stream_descriptor output_;
  net::LineReader reader_;
  net::LineWriter writer_;
};

}  // namespace sallyport::mcp
