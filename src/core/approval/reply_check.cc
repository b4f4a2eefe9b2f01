#include "core/approval/reply_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/handoff/waiting_facts.h"

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
    return fail(ErrorCode::InvalidInput, "only a question that is about no call takes an `answer`",
                "answer");
  }
  return fail(ErrorCode::InvalidInput,
              "this is a question and takes an `answer`; a yes says nothing about it", "answer");
}

// A host says that its user said yes, and never why (RU-18).
Result<void> check_reason(const Reply& reply, const ApprovalState& state) {
  if (!state.reason_required || reply.kind != Reply::Kind::Approved) return {};
  const bool said = reply.reason.find_first_not_of(" \t\r\n") != std::string::npos;
  if (said && reply.door != kHostDoor) return {};
  return fail(ErrorCode::InvalidInput,
              "a rule of the policy asks for a reason: approve with a reason, or deny", "reason",
              "reason_required");
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
    const std::string who = text_or_empty(request, member);
    if (who.empty()) continue;
    if (name == who || name.starts_with(who + "/")) return true;
  }
  return false;
}

Result<void> check_reviewer(const Reply& reply, const json::object& request,
                            const ApprovalState& state) {
  const bool nobody = reply.by.empty() && reply.kind == Reply::Kind::Approved;
  if (nobody || is_requester(reply.by, request)) {
    return fail(ErrorCode::Unauthenticated, "a reviewer cannot approve their own calls", "by");
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
  SALLYPORT_CHECK_OK(check_answer(reply, request));
  SALLYPORT_CHECK_OK(check_reason(reply, state));
  if (!reply.binding.empty() && reply.binding != text_or_empty(request, "binding")) {
    return fail(ErrorCode::Conflict, "the answer is about another call than the question",
                "binding", "binding_mismatch");
  }
  return {};
}

}  // namespace sallyport::core
