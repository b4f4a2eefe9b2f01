#include "mcp/grant_in_meta.h"

#include <boost/json.hpp>

#include "core/grant_carrier.h"
#include "mcp/json_text.h"

namespace sallyport::mcp {

void take_grant(Message& request, Call& call) {
  const auto params = find(request.text, {"params"});
  const auto meta = find(request.text, {"params", "_meta"});
  if (!params || !meta || !find(*meta, {core::kGrantMember})) return;
  core::take_grant(request.value.get_object().at("params").get_object(), call);
  std::string rest = without_member(*meta, core::kGrantMember);
  if (members(rest).empty()) {
    request.text = edited(request.text, {{*params, without_member(*params, "_meta")}});
  } else {
    request.text = edited(request.text, {{*meta, std::move(rest)}});
  }
}

}  // namespace sallyport::mcp
