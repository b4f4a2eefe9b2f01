#include "core/turn/dispatch.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestTrigger = 128;
constexpr std::uint64_t kMostQuestions = 10'000;  // of one kind in one dispatch

// Key: trigger and digest. Value: how many such calls have ended. With a number appended: the call.
constexpr std::string_view kDispatchedCall = "dispatched_call";
// Key: call. Value: its terminal record.
constexpr std::string_view kDispatchedEnd = "dispatched_end";

std::uint64_t number_of(const std::optional<std::string>& stored) {
  std::uint64_t number = 0;
  if (stored) std::from_chars(stored->data(), stored->data() + stored->size(), number);
  return number;
}

class CountCall final : public FactChange {
 public:
  CountCall(std::string key, std::string call_id)
      : key_(std::move(key)), call_id_(std::move(call_id)) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const auto before, stored(kDispatchedCall, key_));
    const std::string n = std::to_string(number_of(before) + 1);
    return std::vector<Fact>{{std::string(kDispatchedCall), key_, n},
                             {std::string(kDispatchedCall), key_ + " " + n, call_id_}};
  }

 private:
  std::string key_;
  std::string call_id_;
};

std::string key_of(std::string_view trigger_id, std::string_view request_digest) {
  return fmt::format("{} {}", trigger_id, request_digest);
}

}  // namespace

Result<void> check_trigger_id(std::string_view trigger_id) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  const bool good = !trigger_id.empty() && trigger_id.size() <= kLongestTrigger &&
                    trigger_id.find_first_not_of(kLetters) == std::string_view::npos;
  if (good) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("`trigger_id` is 1 to {} letters, digits, `.`, `_`, `:` and `-`",
                          kLongestTrigger),
              "trigger_id");
}

Result<void> check_trigger_id(std::string_view trigger_id, const Redactor& redactor) {
  SALLYPORT_CHECK_OK(check_trigger_id(trigger_id));
  std::string text(trigger_id);
  if (!redact_name(redactor, text)) return {};
  return fail(ErrorCode::InvalidInput,
              "`trigger_id` holds what looks like a secret; name the event without it",
              "trigger_id");
}

std::string question_id(std::string_view kind, std::string_view trigger_id, std::uint64_t n) {
  return fmt::format("hitl_{}_{}_{}", kind, trigger_id, n);
}

Result<std::string> fresh_question_id(RecordReader& records, std::string_view kind,
                                      std::string_view trigger_id) {
  for (std::uint64_t n = 1; n <= kMostQuestions; ++n) {
    std::string id = question_id(kind, trigger_id, n);
    SALLYPORT_TRY(const auto taken, records.fact(kRequestSpace, id));
    if (!taken) return id;
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("`{}` has asked {} times already", trigger_id, kMostQuestions));
}

void keep_end_of_dispatched(const DispatchedCall& call, Draft& record) {
  const std::string& call_id = record.subject->call_id;
  record.changes.push_back(
      std::make_shared<CountCall>(key_of(call.trigger_id, call.request_digest), call_id));
  record.facts.push_back({std::string(kDispatchedEnd), call_id, "", true});
}

Result<std::optional<std::uint64_t>> end_of_dispatched(RecordReader& records,
                                                       std::string_view trigger_id,
                                                       std::string_view request_digest,
                                                       std::uint64_t n) {
  const std::string key = fmt::format("{} {}", key_of(trigger_id, request_digest), n);
  SALLYPORT_TRY(const auto call_id, records.fact(kDispatchedCall, key));
  if (!call_id) return std::nullopt;
  SALLYPORT_TRY(const auto stored, records.fact(kDispatchedEnd, *call_id));
  const std::optional<Placed> placed = stored ? split_place(*stored) : std::nullopt;
  return placed ? std::optional(placed->sequence) : std::nullopt;
}

}  // namespace sallyport::core
