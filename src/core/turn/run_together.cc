// Calls of one turn that may run at the same time.
#include <algorithm>

#include "base/together.h"
#include "base/try.h"
#include "core/call/governor.h"
#include "core/call/preparing.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kTogether = 8;  // RT-24

bool must_run_alone(const Trail& trail, const Upstream& upstream) {
  return trail.classification().tier == Tier::Confirm || upstream.raises_caution();
}

// An admitted call has a trail and no answer yet. It has one owner and does not move.
struct Begun {
  std::unique_ptr<Trail> trail;
  std::shared_ptr<Upstream> upstream;  // shared: an abandoned call keeps it
  std::optional<Answer> answer{};
};

// True if a call with this id was admitted: the second one is answered from its record.
bool has_id(const std::vector<Begun>& all, const std::string& tool_call_id) {
  return std::ranges::any_of(
      all, [&](const Begun& begun) { return begun.trail->call().tool_call_id == tool_call_id; });
}

}  // namespace

Task<std::vector<Answer>> Governor::run_together(std::vector<RunnableCall> calls, Caller caller) {
  std::vector<Begun> all;
  std::optional<Error> error;
  for (RunnableCall& asked : calls) {
    // The calls after the first are few. The caller presents them again if they do not run here.
    Call& call = asked.call;
    const Result<void> accepted = all.empty() ? accept(call) : identify(call);
    if (!accepted && all.empty()) co_return std::unexpected(accepted.error());
    if (!accepted || all.size() == kTogether || has_id(all, call.tool_call_id)) break;
    Begun next{std::make_unique<Trail>(trail_of(std::move(call))), std::move(asked.upstream)};
    const bool alone = must_run_alone(*next.trail, *next.upstream);
    if (alone && !all.empty()) break;
    Result<std::optional<Answer>> ended = co_await admit(*next.trail, next.upstream, caller);
    if (!ended) {
      drop_preparation(*next.trail, *next.upstream);
      error = ended.error();
      break;
    }
    next.answer = std::move(*ended);
    const bool waits =
        next.answer && next.answer->outcome.kind == Outcome::Kind::RequiresConfirmation;
    all.push_back(std::move(next));
    if (alone || waits) break;
  }
  std::vector<Task<Answer>> running;
  for (const Begun& begun : all) {
    if (!begun.answer) running.push_back(conduct(*begun.trail, begun.upstream, caller));
  }
  std::vector<Result<Answer>> ended = co_await together<Result<Answer>>(std::move(running));
  std::vector<Answer> answers;
  for (auto next = ended.begin(); Begun & begun : all) {
    if (!begun.answer) {
      Result<Answer>& answer = *next++;
      if (!answer) co_return std::unexpected(answer.error());
      begun.answer = std::move(*answer);
    }
    answers.push_back(std::move(*begun.answer));
  }
  if (error) co_return std::unexpected(*error);
  co_return answers;
}

}  // namespace sallyport::core
