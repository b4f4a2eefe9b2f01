#include "core/plan/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/race.h"
#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

constexpr Word<GuardFailure> kGuardFailures[] = {
    {"error", GuardFailure::Error},         {"exception", GuardFailure::Exception},
    {"timeout", GuardFailure::Timeout},     {"malformed", GuardFailure::Malformed},
    {kGuardNotOurs, GuardFailure::NotOurs},
};

// Less than the depth of an entry, which has some levels of its own.
constexpr std::size_t kDeepestValue = 100;

// A separate coroutine keeps `guard` alive while its work runs, also after the call stops waiting.
template <class GuardType, class Subject, class Context>
Async<Result<Verdict>> ask(std::shared_ptr<const GuardType> guard, Subject subject,
                           Context context) {
  co_return co_await guard->judge(subject, context);
}

Judged fold(Result<Verdict> answer) {
  if (answer) return {.verdict = std::move(*answer)};
  const Error& error = answer.error();
  const bool late = error.code == ErrorCode::Deadline;
  // A guard in another program that is not asked here says so by its cause.
  const bool unasked = error.cause == kGuardNotOurs;
  const bool malformed = error.cause == kNoVerdict;
  return {.failure = late        ? GuardFailure::Timeout
                     : unasked   ? GuardFailure::NotOurs
                     : malformed ? GuardFailure::Malformed
                                 : GuardFailure::Error,
          .detail = error.message};
}

Judged fold(Raced<Result<Verdict>> raced) {
  switch (raced.finish) {
    case Finish::Worked:
      return fold(std::move(*raced.value));
    case Finish::Threw:
      return {.failure = GuardFailure::Exception};
    case Finish::Cancelled:
      return {.cancelled = true};
    case Finish::Deadline:
      break;
  }
  return {.failure = GuardFailure::Timeout};
}

// The texts of a guard go into records and answers, which must be able to hold them.
bool sound(const Verdict& verdict) {
  const bool known =
      verdict.kind >= Verdict::Kind::Allow && verdict.kind <= Verdict::Kind::Escalate;
  return known && is_utf8(verdict.reason) && is_utf8(verdict.rule) &&
         check_json(verdict.evidence) && check_json(verdict.value, kDeepestValue) &&
         std::ranges::all_of(verdict.findings, [](const Finding& finding) {
           return is_utf8(finding.excerpt) && check_json(finding.body);
         });
}

// A record has room for a finding, not for a copy of its content.
void bound(Verdict& verdict) {
  constexpr std::size_t kLongestRule = 256;
  constexpr std::size_t kLargestEvidence = 20 * 1024;
  constexpr std::size_t kMostFindings = 256;
  if (verdict.rule.size() > kLongestRule) verdict.rule = cut_utf8_bytes(verdict.rule, kLongestRule);
  if (verdict.findings.size() > kMostFindings) verdict.findings.resize(kMostFindings);
  if (verdict.evidence.is_null()) return;
  const std::size_t size = canonical_json(verdict.evidence).size();
  if (size > kLargestEvidence)
    verdict.evidence = fmt::format("[{} bytes of evidence left out]", size);
}

template <class GuardType, class Subject, class Context>
Async<Judged> judged(std::shared_ptr<const GuardType> guard, const Subject& subject,
                     const Context& context, std::chrono::milliseconds usual, const Clock& clock,
                     std::stop_token cancel) {
  const GuardTraits& traits = guard->traits();
  const std::chrono::milliseconds limit = traits.limit.value_or(usual);
  const SteadyTime begin = clock.steady();
  Judged judged;
  if (traits.waits) {
    judged = fold(co_await race<Result<Verdict>>(
        ask(guard, subject, context), std::chrono::steady_clock::now() + limit, std::move(cancel)));
  } else {
    try {
      judged = fold(co_await guard->judge(subject, context));
    } catch (...) {
      judged = {.failure = GuardFailure::Exception};
    }
  }
  const auto took = clock.steady() - begin;
  if (!judged.failure && !sound(judged.verdict)) judged = {.failure = GuardFailure::Malformed};
  bound(judged.verdict);
  if (!judged.failure && !judged.cancelled && took > limit) judged.failure = GuardFailure::Timeout;
  judged.duration_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  co_return judged;
}

Task<HookRows> run_hook(std::shared_ptr<const EventHook> hook, Event event, Subject subject) {
  co_return co_await hook->on_event(event, subject);
}

Result<HookRows> hook_result(Raced<Result<HookRows>> raced) {
  if (raced.finish == Finish::Worked) return std::move(*raced.value);
  return fail(ErrorCode::Internal, raced.finish == Finish::Threw ? "exception" : "timeout");
}

}  // namespace

std::string_view to_string(GuardFailure failure) {
  return word_of(kGuardFailures, failure);
}

Async<Judged> judge(std::shared_ptr<const Guard> guard, const Call& call,
                    const GuardContext& context, const Clock& clock, std::stop_token cancel) {
  return judged<Guard, Call, GuardContext>(std::move(guard), call, context, kGuardLimit, clock,
                                           std::move(cancel));
}

Async<Judged> judge(std::shared_ptr<const ResultGuard> guard, const Envelope& envelope,
                    const ResultContext& context, const Clock& clock, std::stop_token cancel) {
  return judged<ResultGuard, Envelope, ResultContext>(std::move(guard), envelope, context,
                                                      kResultGuardLimit, clock, std::move(cancel));
}

Task<HookRows> notified(std::shared_ptr<const EventHook> hook, const Event& event,
                        const Subject& subject, std::chrono::milliseconds limit,
                        const Clock& clock) {
  const SteadyTime begin = clock.steady();
  Result<HookRows> result;
  if (hook->waits()) {
    result = hook_result(co_await race<Result<HookRows>>(run_hook(hook, event, subject),
                                                         std::chrono::steady_clock::now() + limit,
                                                         std::stop_token()));
  } else {
    try {
      result = co_await hook->on_event(event, subject);
    } catch (...) {
      result = fail(ErrorCode::Internal, "exception");
    }
  }
  if (result && clock.steady() - begin > limit) co_return fail(ErrorCode::Deadline, "timeout");
  co_return result;
}

Async<std::optional<std::string>> taken(std::shared_ptr<const Sink> sink,
                                        const AuditRecord& record) {
  try {
    const Result<void> result = co_await sink->take(record);
    if (!result) co_return result.error().message;
  } catch (...) {
    co_return "exception";
  }
  co_return std::nullopt;
}

}  // namespace sallyport::core
