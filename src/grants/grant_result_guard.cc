#include "grants/grant_result_guard.h"

#include <boost/json.hpp>

#include "base/json_members.h"

namespace sallyport::grants {

namespace {

json::value notice_like(const json::value& value) {
  const json::object* const object = value.if_object();
  // An MCP result keeps the form of an MCP result.
  if (object == nullptr || !object->contains("content")) return json::value(kWithheldNotice);
  json::object notice{
      {"content", json::array{json::object{{"type", "text"}, {"text", kWithheldNotice}}}}};
  // A client that expects structured content accepts a result without it only as an error.
  if (object->contains("structuredContent") || bool_in(*object, "isError").value_or(false)) {
    notice["isError"] = true;
  }
  return notice;
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
