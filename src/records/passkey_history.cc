#include "records/passkey_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "trust/enrolments.h"

namespace sallyport::app {

namespace {

class PasskeyHistory {
 public:
  explicit PasskeyHistory(trust::Reviewers reviewers) : reviewers_(std::move(reviewers)) {}

  Result<void> look(const json::object& body, const std::string& origin) {
    const std::string_view control = text_in(body, "control").value_or("");
    if (control == "passkey_added") return add(body, origin);
    if (control == "passkey_removed") return remove(body);
    return answer(body);
  }

 private:
  Result<void> add(const json::object& body, const std::string& origin) {
    const json::object* const statement = object_in(body, "statement");
    if (statement == nullptr) return fail(ErrorCode::Corrupt, "it lacks its statement");
    SALLYPORT_TRY(trust::Enrolment key, trust::Enrolment::from_statement(*statement));
    key.signature = text_or_empty(body, "signature");
    if (key.ledger != origin) return fail(ErrorCode::Unauthenticated, "it is for another ledger");
    if (trust::find_enrolment(all_, key.credential_id) != nullptr) {
      return fail(ErrorCode::Conflict, "its credential was enrolled before");
    }
    const bool by_passkey = key.signature.starts_with(trust::Assertion::kMark);
    SALLYPORT_CHECK_OK(by_one_of(key.reviewer, [&](const trust::Reviewer& person) -> Result<void> {
      if (by_passkey) {
        SALLYPORT_CHECK_OK(trust::check_passkey(person, key.statement_text(), key.signature, all_));
      }
      return trust::check_enrolment(key, all_, *person.key);
    }));
    all_.push_back(std::move(key));
    return {};
  }

  Result<void> remove(const json::object& body) {
    const auto found = std::ranges::find(all_, text_or_empty(body, "credential_id"),
                                         &trust::Enrolment::credential_id);
    if (found == all_.end()) {
      return fail(ErrorCode::NotFound, "a passkey is removed that was never enrolled", {},
                  "passkey_unknown");
    }
    found->removed_at = "removed";
    return {};
  }

  Result<void> answer(const json::object& body) {
    const core::ResponseStatement statement{.request_id = text_or_empty(body, "request_id"),
                                            .reviewer = text_or_empty(body, "reviewer"),
                                            .binding = text_or_empty(body, "binding"),
                                            .responded_at = text_or_empty(body, "responded_at"),
                                            .approved = bool_in(body, "approved").value_or(false)};
    return by_one_of(statement.reviewer, [&](const trust::Reviewer& person) {
      return trust::check_passkey(person, statement.text(), text_or_empty(body, "signature"), all_);
    });
  }

  // True for one of the entries of that name suffices; else the last error.
  template <class Check>
  Result<void> by_one_of(const std::string& name, Check check) {
    Result<void> last =
        fail(ErrorCode::Unauthenticated,
             fmt::format("no key of `{:.60}` is registered; name the list with --reviewers", name));
    for (const trust::Reviewer& person : reviewers_.people) {
      if (person.name != name || !person.key) continue;
      last = check(person);
      if (last) return last;
    }
    return last;
  }

  trust::Reviewers reviewers_;
  std::vector<trust::Enrolment> all_;
};

}  // namespace

ledger::CheckPasskeys passkeys_of(trust::Reviewers reviewers) {
  // Shared between the copies of the function. One of them is called, on one thread.
  const auto history = std::make_shared<PasskeyHistory>(std::move(reviewers));
  return [history](const json::object& body, const std::string& origin) {
    return history->look(body, origin);
  };
}

}  // namespace sallyport::app
