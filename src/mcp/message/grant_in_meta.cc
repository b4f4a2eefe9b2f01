#include "mcp/message/grant_in_meta.h"

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "core/plan/grant_carrier.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kGrantHeader = "sallyport-grant";  // as headers are compared
// A token has a few levels; the whole message may have this many.
constexpr JsonLimits kTokenLimits{.bytes = 64u << 10, .depth = 64};

}  // namespace

void take_grant(Message& request, Call& call) {
  const auto meta = find(request.text, {"params", "_meta"});
  if (!meta || !find(*meta, {core::kGrantMember})) return;
  core::take_grant(request.value.get_object().at("params").get_object(), call);
  std::string rest = without_member(*meta, core::kGrantMember);
  if (members(rest).empty()) {
    const std::string_view params = *find(request.text, {"params"});
    request.text = edited(request.text, {{params, without_member(params, "_meta")}});
  } else {
    request.text = edited(request.text, {{*meta, std::move(rest)}});
  }
}

std::string with_grant_headers(std::string text, const net::ServerRequest& head) {
  Call presented;
  for (const auto& [name, value] : head.headers) {
    if (name == kGrantHeader) core::take_grant_header(value, presented);
  }
  if (presented.grants.empty()) return text;
  const std::string params(find(text, {"params"}).value_or("{}"));
  const std::string meta(find(params, {"_meta"}).value_or("{}"));
  std::string all(find(meta, {core::kGrantMember}).value_or(""));
  for (const std::string& token : presented.grants) {
    if (!all.empty()) all += ',';
    // A value that is no JSON is no token, and is refused later.
    all += parse_json(token, kTokenLimits) ? token : canonical_json(json::value(readable(token)));
  }
  const bool several = presented.grants.size() > 1 || find(meta, {core::kGrantMember});
  const std::string_view member = core::kGrantMember;
  const std::string changed = with_member(meta, member, several ? '[' + all + ']' : all);
  return with_member(text, "params", with_member(params, "_meta", changed));
}

}  // namespace sallyport::mcp
