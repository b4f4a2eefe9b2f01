#include "core/approval/reply_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestName = 512;

// A question takes an answer, and nothing else does (AP-25).
Result<void> check_answer(const Reply& reply, const json::object& request) {
  if (reply.answer.size() > kLongestReason || !is_utf8(reply.answer)) {
    return fail(ErrorCode::InvalidInput, "an answer is at most 64 KiB of UTF-8", "answer");
  }
  const bool answers = is_question(request) && reply.kind == Reply::Kind::Approved;
  if (answers == !reply.answer.empty()) return {};
  if (!answers) {
    return fail(ErrorCode::InvalidInput,
                "only a question that is not about a call takes an `answer`", "answer");
  }
  return fail(ErrorCode::InvalidInput, "this question needs an `answer` in words, not an approval",
              "answer");
}

// After an erasure a person cannot see what would run.
Result<void> check_shown(const Reply& reply, const json::object& request) {
  if (is_question(request) || reply.kind != Reply::Kind::Approved) return {};
  const json::value* const args = request.if_contains("args");
  if (args != nullptr && args->is_array()) return {};
  return fail(ErrorCode::Conflict,
              "the input of this call was erased, so it can only be denied or withdrawn", {},
              "erased");
}

// A host reports that its user approved, but never a reason (RU-18).
Result<void> check_reason(const Reply& reply, const ApprovalState& state) {
  if (!state.reason_required || reply.kind != Reply::Kind::Approved) return {};
  const bool has_reason = reply.reason.find_first_not_of(" \t\r\n") != std::string::npos;
  if (has_reason && reply.door != kHostDoor) return {};
  return fail(ErrorCode::InvalidInput,
              "a rule of the policy asks for a reason: approve with a reason, or deny", "reason",
              "reason_required");
}

// True if `name` is a sub-agent of `agent`: `bot/child` is one of `bot`.
bool is_below(std::string_view name, std::string_view agent) {
  return name.size() > agent.size() && name.starts_with(agent) && name[agent.size()] == '/';
}

}  // namespace

std::string shown_credential(std::string_view credential) {
  constexpr std::string_view kKey = "key:";
  constexpr std::size_t kShown = 16;
  if (credential.starts_with(kKey)) return std::string(credential.substr(0, kKey.size() + kShown));
  return std::string(credential.substr(0, credential.find(':')));
}

bool is_requester(std::string_view name, const json::object& request) {
  for (const char* const member : {"agent_id", "principal"}) {
    const std::string requester = text_or_empty(request, member);
    if (requester.empty()) continue;
    if (name == requester || is_below(name, requester) || is_below(requester, name)) return true;
  }
  return false;
}

Result<void> check_reviewer(const Reply& reply, const json::object& request,
                            const ApprovalState& state) {
  if (reply.by.empty() && reply.kind == Reply::Kind::Approved) {
    return fail(ErrorCode::Unauthenticated, "an approval names the person who gives it", "by");
  }
  if (is_requester(reply.by, request)) {
    return fail(ErrorCode::Unauthenticated, "a reviewer cannot approve their own calls", "by");
  }
  const bool two = kind_of(request) == QuestionKind::DualControl;
  if (two && !reply.by.empty() && reply.by == state.on_behalf_of) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("the agent acts on behalf of `{:.80}`, and this call needs two other "
                            "people",
                            reply.by),
                "by");
  }
  if (reply.by.size() > kLongestName || !is_utf8(reply.by)) {
    return fail(ErrorCode::InvalidInput, "a name is at most 512 bytes of UTF-8", "by");
  }
  const json::value* const listed = request.if_contains("reviewers");
  if (listed == nullptr || !listed->is_array() || listed->get_array().empty()) return {};
  const json::array& names = listed->get_array();
  if (std::ranges::find(names, json::value(reply.by)) != names.end()) return {};
  if (std::ranges::find(state.also, reply.by) != state.also.end()) return {};
  return fail(ErrorCode::Unauthenticated,
              fmt::format("`{:.80}` is not among the reviewers of this call", reply.by), "by",
              "not_a_reviewer");
}

Result<void> check_reply(const Reply& reply, const json::object& request,
                         const ApprovalState& state) {
  SALLYPORT_CHECK_OK(check_reviewer(reply, request, state));
  SALLYPORT_CHECK_OK(check_shown(reply, request));
  SALLYPORT_CHECK_OK(check_answer(reply, request));
  SALLYPORT_CHECK_OK(check_reason(reply, state));
  return reply.binding.empty() ? Result<void>{} : check_binding(reply.binding, request);
}

Result<void> check_binding(std::string_view binding, const json::object& request) {
  if (binding == text_or_empty(request, "binding")) return {};
  return fail(
      ErrorCode::Conflict,
      "the binding is that of another call: look at the question again, and give the binding "
      "that it shows",
      {}, "binding_mismatch");
}

}  // namespace sallyport::core
