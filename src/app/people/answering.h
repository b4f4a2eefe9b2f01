// Takes answers of an authenticated person: to one question, to a list, or one after another as
// they come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/people/login.h"
#include "people/approval_desk.h"
#include "sallyport/approval.h"

namespace sallyport::app {

// Returns an open question. `NotFound`, or `Conflict` with the state as cause. The error for an
// escalation names the command that settles it.
Result<json::object> pending_request(const Context& context, const std::string& id);

class Answering {
 public:
  // `context` must outlive it.
  Answering(const Context& context, Login login) : context_(context), login_(std::move(login)) {}

  using Given = people::ApprovalDesk::Given;
  struct Said {
    Reply::Kind kind = Reply::Kind::Denied;
    std::string reason{};
    std::string answer{};                  // to a question that is about no call
    std::optional<std::string> binding{};  // that the person saw, or its first 8 digits; no value:
                                           // the binding of the question as it is now
  };
  Result<Given> answer(const std::string& id, Said said) const;
  Result<void> escalate(const std::string& id, std::vector<std::string> to,
                        std::string reason) const;

  // How often the person has said yes in the last ten minutes.
  Result<std::size_t> recent_approvals() const;
  // `Exhausted`: so often that this yes must name what it is about (AP-43).
  Result<void> check_haste() const;
  const Login& login() const { return login_; }

 private:
  const Context& context_;
  Login login_;
};

}  // namespace sallyport::app
