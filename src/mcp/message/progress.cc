#include "mcp/message/progress.h"

#include <boost/json.hpp>

namespace sallyport::mcp {

std::string progress_token(const Message& message) {
  const json::object* const holder =
      message.kind == Message::Kind::Request ? message.meta() : message.params();
  const json::value* const token = holder ? holder->if_contains("progressToken") : nullptr;
  return token ? id_text(*token) : std::string();
}

bool ToldProgress::rises(const Message& notification) {
  const json::object* const params = notification.params();
  const json::value* const progress = params ? params->if_contains("progress") : nullptr;
  if (progress == nullptr || !progress->is_number()) return false;
  const double now = progress->to_number<double>();
  if (last && now <= *last) return false;
  last = now;
  return true;
}

}  // namespace sallyport::mcp
