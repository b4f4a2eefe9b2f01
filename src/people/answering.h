// Gives the answers of an authenticated person to questions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "people/approval_desk.h"
#include "people/login.h"
#include "sallyport/approval.h"
#include "workspace/context.h"

namespace sallyport::app {

// Returns an open question. `NotFound`, or `Conflict` with the state as cause. The error for an
// escalation names the command that settles it.
Result<json::object> pending_request(const Context& context, const std::string& id);

class Answering {
 public:
  // `context` must outlive it.
  Answering(const Context& context, Login login) : context_(context), login_(std::move(login)) {}

  using Recorded = ApprovalDesk::Recorded;
  struct Response {
    Reply::Kind kind = Reply::Kind::Denied;
    std::string reason{};
    std::string answer{};                  // words, for a question that is not about a call
    std::optional<std::string> binding{};  // that the person saw, or its first 8 digits; no value:
                                           // the binding of the question as it is now
  };
  Result<Recorded> answer(const std::string& id, Response response) const;
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
