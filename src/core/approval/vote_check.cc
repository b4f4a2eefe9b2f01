#include "core/approval/vote_check.h"

#include "base/try.h"
#include "core/approval/approval_request.h"

namespace sallyport::core {

Result<std::vector<std::string>> enrolled_keys(RecordReader& records) {
  SALLYPORT_TRY(const std::vector<Fact> facts, records.facts(kPasskeySpace));
  std::vector<std::string> texts;
  for (const Fact& fact : facts) {
    if (fact.value) texts.push_back(*fact.value);
  }
  return texts;
}

Result<void> check_vote(const ApprovalRules& rules, RecordReader& records,
                        const std::string& approval_id, const Vote& vote,
                        const std::string& binding) {
  const ResponseStatement statement{.request_id = approval_id,
                                    .reviewer = vote.by,
                                    .binding = binding,
                                    .responded_at = vote.at,
                                    .approved = vote.approved};
  std::vector<std::string> enrolled;
  if (!vote.signature.empty()) {
    SALLYPORT_TRY(enrolled, enrolled_keys(records));
  }
  return rules.check(vote.door, vote.by, statement.text(), vote.signature, enrolled);
}

}  // namespace sallyport::core
