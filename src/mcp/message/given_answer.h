// The answer of the other side to a governed request: as received, and as the guards see it.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "mcp/message/message.h"
#include "sallyport/envelope.h"

namespace sallyport::mcp {

class GivenAnswer {
 public:
  explicit GivenAnswer(Message message);  // a response

  const Message& message() const { return message_; }
  const Envelope& envelope() const { return envelope_; }
  // The answer as received, with the changes of `released`.
  std::string showing(const Envelope& released, std::string_view id) const;

 private:
  Message message_;
  Envelope envelope_;
  json::value given_;  // the part of it that passed the second door
};

// The error object of an answer.
json::value error_of(const Envelope& envelope);

}  // namespace sallyport::mcp
