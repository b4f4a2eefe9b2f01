#include "grants/grant_result_guard.h"

#include <boost/json.hpp>

namespace sallyport::grants {

namespace {

json::value notice_like(const json::value& value) {
  const json::object* const object = value.if_object();
  // An answer of MCP stays one.
  if (object == nullptr || !object->contains("content")) return json::value(kWithheldNotice);
  return json::object{
      {"content", json::array{json::object{{"type", "text"}, {"text", kWithheldNotice}}}}};
}

Envelope withheld(const Envelope& result) {
  Envelope notice;
  notice.kind = result.kind;
  notice.complete = result.complete;
  switch (result.kind) {
    case Envelope::Kind::Value:
      notice.value = notice_like(result.value);
      break;
    case Envelope::Kind::Stream:
      notice.chunks = {json::value(kWithheldNotice)};
      break;
    case Envelope::Kind::Error:
      notice.message = std::string(kWithheldNotice);
      break;
  }
  return notice;
}

}  // namespace

GrantResultGuard::GrantResultGuard() {
  traits_.name = "grant-result";
  traits_.rewrites = true;
  traits_.settings = json::object{};
}

Task<Verdict> GrantResultGuard::judge(const Envelope& result, const ResultContext& context) const {
  if (!context.matched_grant_index) co_return Verdict::allow();
  if (!context.scope || *context.matched_grant_index >= context.scope->grants.size()) {
    co_return fail(ErrorCode::InvalidInput, "`matched_grant_index` is outside of `scope`");
  }
  if (context.scope->grants[*context.matched_grant_index].reads_result) co_return Verdict::allow();
  co_return Verdict::rewrite(withheld(result).to_json(), std::string(kWithheldNotice),
                             "read_result");
}

}  // namespace sallyport::grants
