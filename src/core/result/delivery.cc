#include "core/result/delivery.h"

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/exact_numbers.h"
#include "base/shielded.h"
#include "core/plan/pipeline.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kMostNoted = 1024;  // findings and escalations of the messages of one call

}  // namespace

Delivery::Delivery(Parts parts)
    : parts_(std::move(parts)),
      fail_open_(parts_.fail_open),
      begin_(parts_.clock.steady()),
      stream_{.kind = Envelope::Kind::Stream} {}

bool Delivery::add(json::value chunk) {
  if (closed_ || !stream_.complete) return false;
  const StreamLimits& limits = parts_.plan->stream_limits();
  bytes_ += chunk_bytes(chunk);
  if (bytes_ > limits.bytes) {
    cut_short(stream_, "too many bytes");
  } else if (stream_.chunks.size() == limits.chunks) {
    cut_short(stream_, "too many chunks");
  } else if (parts_.clock.steady() - begin_ > limits.time) {
    cut_short(stream_, "took too long");
  } else {
    stream_.chunks.push_back(with_exact_numbers(std::move(chunk)));
    return true;
  }
  return false;
}

Envelope Delivery::finish() {
  return std::move(stream_);
}

Envelope Delivery::cut(std::string reason) {
  cut_short(stream_, std::move(reason));
  return std::move(stream_);
}

void Delivery::deny(event::DeniedAction action, std::string detail) {
  if (closed_) return;
  denials_.push_back(
      event::AuthorizationDenied{parts_.context.call->agent_id, action, readable(detail)});
}

Async<void> Delivery::progress(json::value message) {
  if (closed_ || !parts_.forward || !check_json(message)) co_return;
  ShortRelease release = co_await run_pipeline_short(*parts_.plan, Envelope::of(std::move(message)),
                                                     parts_.context, parts_.clock, fail_open_);
  // A server that floods would fill the memory and the log. Without an entry, a message must not
  // pass.
  const std::size_t more = release.findings.size() + release.escalations.size();
  const bool has_room = findings_.size() + escalations_.size() + more <= kMostNoted;
  if (closed_ || (more > 0 && !has_room)) co_return;
  for (Escalation& escalation : release.escalations) escalations_.push_back(std::move(escalation));
  for (Finding& finding : release.findings) findings_.push_back(std::move(finding));
  if (release.verdict == Verdict::Kind::Deny) co_return;
  // A failure of the progress listener does not affect the call.
  (void)shielded("progress", [&] { parts_.forward(release.released.value); });
}

}  // namespace sallyport::core
