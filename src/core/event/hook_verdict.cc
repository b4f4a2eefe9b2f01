#include <boost/json.hpp>

#include "base/object_reader.h"
#include "sallyport/verdict.h"

namespace sallyport {

Result<json::object> hook_verdict_to_json(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Allow:
      return json::object{{"verdict", "allow"}};
    case Verdict::Kind::Deny:
      return json::object{{"verdict", "block"}, {"reason", verdict.reason}};
    case Verdict::Kind::Rewrite:
      return json::object{{"verdict", "redact"}, {"value", verdict.value}};
    case Verdict::Kind::Escalate:
      return json::object{{"verdict", "escalate"}, {"message", verdict.reason}};
    case Verdict::Kind::Ask:
      break;
  }
  return fail(ErrorCode::InvalidInput, "a hook after the call cannot ask", "verdict");
}

Result<Verdict> hook_verdict_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  const std::string word = in.word("verdict", {"allow", "block", "redact", "escalate"});
  Verdict verdict;
  if (word == "block") verdict = Verdict::deny(in.text("reason"));
  if (word == "redact") verdict = Verdict::rewrite(in.any("value"));
  if (word == "escalate") verdict = Verdict::escalate(in.text("message"));
  if (in.ok() && word == "block" && verdict.reason.empty()) in.refuse("reason", "is empty");
  if (!in.ok()) return std::unexpected(in.error());
  return verdict;
}

}  // namespace sallyport
