#include "core/approval/open_questions.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "core/approval/approval_state.h"

namespace sallyport::core::open_questions {

namespace {

constexpr std::string_view kSpace = "open_questions";

// The value is the list of approval ids that were open when the last one was added.
class Adding final : public FactChange {
 public:
  Adding(OpenQuestion question, WallTime now)
      // A fact is not redacted, and the name of an agent may be anything.
      : question_(std::move(question)), key_(hex(sha256(question_.agent_id))), now_(now) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> listed, stored(kSpace, key_));
    json::array open;
    if (listed) {
      SALLYPORT_TRY(const json::value value, parse_own_json(*listed));
      if (!value.is_array()) return fail(ErrorCode::Corrupt, "open approvals cannot be counted");
      for (const json::value& id : value.get_array()) {
        SALLYPORT_TRY(const bool waits, is_open(stored, id));
        if (waits) open.push_back(id);
      }
    }
    if (open.size() >= question_.most) {
      return fail(ErrorCode::Exhausted,
                  fmt::format("{}: this agent has {} approval requests that wait for an answer; "
                              "have some of them answered first",
                              kTooMany, open.size()),
                  {}, std::string(kTooMany));
    }
    open.emplace_back(question_.approval_id);
    return std::vector<Fact>{{std::string(kSpace), key_, canonical_json(open)}};
  }

 private:
  Result<bool> is_open(const Stored& stored, const json::value& id) const {
    if (!id.is_string()) return false;
    SALLYPORT_TRY(const std::optional<std::string> text,
                  stored(kApprovalSpace, std::string_view(id.get_string())));
    if (!text) return false;
    SALLYPORT_TRY(const ApprovalState state, ApprovalState::parse(*text));
    return state.open() && now_ < state.expires_at;
  }

  OpenQuestion question_;
  std::string key_;
  WallTime now_;
};

}  // namespace

std::shared_ptr<const FactChange> add(OpenQuestion question, WallTime now) {
  return std::make_shared<Adding>(std::move(question), now);
}

}  // namespace sallyport::core::open_questions
