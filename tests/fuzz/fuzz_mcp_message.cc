// Messages from clients and servers are refused or understood, and changed only in the intended
// places.
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "mcp/call/forwarded_call.h"
#include "mcp/message/json_text.h"
#include "mcp/message/message.h"
#include "mcp/message/translation.h"
#include "mcp/server/tool_definition.h"

namespace {

using namespace sallyport;
using namespace sallyport::mcp;

void check_translations(std::string_view object) {
  if (!object.starts_with('{')) return;
  const ClientFacts client{.capabilities = "{}", .info = R"({"name":"c"})"};
  for (const std::string& made :
       {modern_params(object, client), legacy_params(object), legacy_result("tools/list", object),
        modern_result("tools/list", object, R"({"name":"s"})"), modern_error(object),
        opening_from_discovery(object, ""), discovery_from_opening(object),
        without_tools(object, {"a"})}) {
    SALLYPORT_INVARIANT(parse_json(made).has_value());
  }
}

// The counted size is the limited size, and a message over a limit gets an error with that limit.
void check_limits(const std::string& text, std::size_t values) {
  SALLYPORT_INVARIANT(Message::read(text, {.values = values}).has_value());
  const Result<Message> over = Message::read(text, {.values = values - 1});
  SALLYPORT_INVARIANT(!over && over.error().cause == kOverLimit);
  SALLYPORT_INVARIANT(parse_json(unreadable_text(text, over.error())).has_value());
  const Result<Message> longer = Message::read(text, {.bytes = text.size() - 1});
  SALLYPORT_INVARIANT(!longer && longer.error().cause == kOverLimit);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)id_in_malformed(text, text);
  (void)members(text);
  (void)elements(text);
  (void)awaited_id(text);
  SALLYPORT_INVARIANT(values_named("id", text, 3).size() <= 3);
  const Result<Message> message = Message::read(std::string(text), {});
  if (!message) {
    SALLYPORT_INVARIANT(parse_json(unreadable_text(text, message.error())).has_value());
    return 0;
  }
  check_limits(message->text, message->values);
  const Result<Message> renamed = Message::read(message->with_id("7"), {});
  SALLYPORT_INVARIANT(renamed.has_value());
  json::object expected = message->object();
  expected["id"] = 7;
  SALLYPORT_INVARIANT(renamed->object() == expected);
  if (message->exact) SALLYPORT_INVARIANT(exact_value(message->text) == message->value);
  // Unknown members are removed, and a message without them stays unchanged.
  SALLYPORT_INVARIANT(renamed->dropped == 0);
  if (message->dropped == 0 && !message->is_error()) SALLYPORT_INVARIANT(message->text == text);
  (void)read_call_params(*message);
  check_translations(message->params_text());
  check_translations(message->result_text());
  check_translations(message->error_text());
  return 0;
}
