// The result of a tool whose call has ended by a cancel or at its deadline. The second door looks
// at it for the record; no caller receives it (PI-31).
#include "core/call/governor.h"
#include "core/call/recordable.h"

namespace sallyport::core {

// The call has had its last record (AU-34), so this is an entry beside it.
Async<void> Governor::note_late(std::shared_ptr<Delivery> delivery, SteadyTime begin,
                                Result<Envelope> given) {
  if (!given) co_return;  // that it gave no answer is what the record says already
  ResultContext context = delivery->context();
  context.is_error = given->kind == Envelope::Kind::Error;
  const std::shared_ptr<const Call> call = context.call;
  const std::string policy_hash = context.policy_hash;
  FailOpen fail_open(fail_open_);
  Release release = co_await look_at(delivery->plan(), recordable(std::move(*given)),
                                     std::move(context), fail_open);
  std::vector<Draft> drafts =
      journal_.late_result(*call, policy_hash, std::move(release), parts_.clock.steady() - begin);
  FailOpenLog::Share share = fail_open.take();
  for (Fact& fact : share.facts) drafts.back().facts.push_back(std::move(fact));
  drafts.insert(drafts.begin(), share.drafts.begin(), share.drafts.end());
  const auto written = co_await parts_.recorder.append(drafts, Urgency::Reports);
  if (!written && written.error().code != ErrorCode::InvalidInput) {
    parts_.recorder.owe(std::move(drafts));
  }
}

}  // namespace sallyport::core
