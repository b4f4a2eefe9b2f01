#include "core/plan/grant_carrier.h"

#include <boost/json.hpp>

#include "base/encoding.h"

namespace sallyport::core {

namespace {

// With or without padding. `+` and `/` of plain base64 are refused.
std::optional<std::string> from_base64url(std::string_view text) {
  std::string plain(text);
  if (plain.find_first_of("+/") != std::string::npos) return std::nullopt;
  for (char& c : plain) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  if (plain.find('=') == std::string::npos) plain.append((4 - plain.size() % 4) % 4, '=');
  return from_base64(plain);
}

}  // namespace

void take_grant(json::object& params, Call& call) {
  json::value* const meta = params.if_contains("_meta");
  if (meta == nullptr || !meta->is_object()) return;
  const json::value* const token = meta->get_object().if_contains(kGrantMember);
  if (token == nullptr) return;
  const bool several = token->is_array() && token->get_array().size() > 1;
  for (const json::value& presented : several ? token->get_array() : json::array{*token}) {
    call.grants.push_back(json::serialize(presented));
  }
  meta->get_object().erase(kGrantMember);
  if (meta->get_object().empty()) params.erase("_meta");
}

void take_grant_header(std::string_view value, Call& call) {
  call.grants.push_back(from_base64url(value).value_or(std::string(value)));
}

}  // namespace sallyport::core
