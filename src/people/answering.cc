#include "people/answering.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <functional>

#include "base/json_members.h"
#include "base/run_on.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/approvals.h"
#include "core/approval/escalations.h"
#include "ledger/read/store_reader.h"
#include "people/answer_limits.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

// Pages for people end with the beginning of a binding (AP-38).
std::string whole_binding(const std::string& seen, const std::string& asked) {
  constexpr std::size_t kShown = 8;
  const std::size_t digits = std::string_view("sha256:").size();
  const bool begins = seen.size() >= kShown && asked.size() > digits &&
                      std::string_view(asked).substr(digits).starts_with(seen);
  return begins ? asked : seen;
}

template <class T>
Result<T> at_desk(const Context& context, const Login& login,
                  const std::function<Task<T>(ApprovalDesk&)>& work) {
  boost::asio::io_context loop(1);  // destroyed after the ledger, which may still post to it
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  core::Approvals approvals(workspace->ledger(), workspace->clock(), workspace->redactor(),
                            [&login] { return login.rules; });
  ApprovalDesk desk({approvals, workspace->ledger(), workspace->clock()});
  Result<T> done = run_on(loop, work(desk));
  // A command has no member `by`: the person has logged in.
  if (!done && done.error().where == "by") done.error().where.clear();
  return done;
}

}  // namespace

Result<json::object> pending_request(const Context& context, const std::string& id) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto state, core::approval_state(records, id));
  SALLYPORT_TRY(const auto escalation, core::waiting_escalation(records, id));
  if (escalation) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is an escalation: `sallyport approvals accept {}` or `dismiss` "
                            "takes it off the queue",
                            id, id));
  }
  if (!state) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no approval `{:.80}`; `sallyport approvals list --state all` "
                            "shows them",
                            id));
  }
  if (!state->open()) {
    const std::string word(to_string(state->status));
    return fail(ErrorCode::Conflict, fmt::format("approval `{}` is already {}", id, word), {},
                word);
  }
  return core::stored_request(records, id);
}

Result<Answering::Recorded> Answering::answer(const std::string& id, Response response) const {
  SALLYPORT_TRY(const json::object request, pending_request(context_, id));
  PersonAnswer whole{.kind = response.kind,
                     .by = login_.name,
                     .door = login_.door,
                     .reason = std::move(response.reason),
                     .answer = std::move(response.answer)};
  if (response.binding) {
    whole.binding = whole_binding(*response.binding, text_or_empty(request, "binding"));
  }
  if (login_.key) {
    whole.sign = [this](std::string_view text) { return login_.key->sign(text); };
  }
  return at_desk<Recorded>(context_, login_,
                           [&](ApprovalDesk& desk) { return desk.answer(id, std::move(whole)); });
}

Result<void> Answering::escalate(const std::string& id, std::vector<std::string> to,
                                 std::string reason) const {
  return at_desk<void>(context_, login_, [&](ApprovalDesk& desk) {
    return desk.escalate(id, std::move(to),
                         {.by = login_.name, .door = login_.door, .reason = std::move(reason)});
  });
}

Result<std::size_t> Answering::recent_approvals() const {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context_.open_reading());
  return app::recent_approvals(workspace->store(), login_.name, workspace->clock().wall());
}

Result<void> Answering::check_haste() const {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context_.open_reading());
  return app::check_haste(workspace->store(), login_.name, workspace->clock().wall(),
                          "confirm this one with `--binding` and the digits that `sallyport "
                          "approvals show` ends with");
}

}  // namespace sallyport::app
