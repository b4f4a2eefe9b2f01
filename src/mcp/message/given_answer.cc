#include "mcp/message/given_answer.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

std::string one_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : canonical_json(value);
}

}  // namespace

json::value error_of(const Envelope& envelope) {
  json::object error{{"code", envelope.code.value_or(kInternalError)},
                     {"message", envelope.message}};
  if (!envelope.data.is_null()) error["data"] = envelope.data;
  return error;
}

GivenAnswer::GivenAnswer(Message message) : message_(std::move(message)) {
  const json::object& object = message_.object();
  if (const json::value* const result = object.if_contains("result")) {
    given_ = message_.exact ? *result : exact_value(message_.result_text());
    envelope_ = Envelope::of(given_);
    return;
  }
  // `Message::read` gives errors their three members.
  const json::object& error = object.at("error").get_object();
  envelope_ = Envelope::error(text_or_empty(error, "message"));
  envelope_.code = error.at("code").get_int64();
  if (const auto data = find(message_.error_text(), {"data"})) {
    envelope_.data = message_.exact ? error.at("data") : exact_value(*data);
  }
  given_ = error_of(envelope_);
}

std::string GivenAnswer::showing(const Envelope& released, std::string_view id) const {
  const bool is_error = released.kind == Envelope::Kind::Error;
  json::value shown = is_error ? error_of(released) : released.value;
  if (shown == given_) return message_.with_id(id);
  // A guard has replaced the whole object by one text.
  const bool lost = given_.is_object() && !shown.is_object();
  if (!is_error && lost) return error_text(id, kDenied, one_text(shown));
  const std::string text =
      with_member(message_.text, is_error ? "error" : "result", json::serialize(shown));
  return with_member(text, "id", id);
}

}  // namespace sallyport::mcp
