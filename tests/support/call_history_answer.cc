#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/call_history.h"
#include "support/call_history_story.h"

namespace sallyport::test {

using core::Draft;
using core::Kind;

namespace {

constexpr std::size_t kWholeOutput = 50 * 1024;  // longer text is cut in its record

}  // namespace

void check_answer(History& history, const Answer& answer) {
  const auto complain = [&](const std::string& text) {
    history.complain(fmt::format("the answer to {}: {}", answer.call_id, text));
  };
  const bool has_result = answer.outcome.result.has_value();
  // The result of a call that did not run states that it did not run (AT-27).
  const bool not_run = !has_result && answer.result.data.is_object() &&
                       answer.result.data.get_object().contains("sallyport");
  if (has_result ? answer.result != *answer.outcome.result : answer.result.success != not_run) {
    complain("shows something else than its outcome");
  }
  const auto& entries = history.disk.entries;
  const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const auto& entry) {
    const bool tells = entry.draft.kind == Kind::ToolAudit || is_join(entry.draft);
    return tells && entry.draft.subject->call_id == answer.call_id;
  });
  if (answer.outcome.kind == Outcome::Kind::PersistenceFailed) {
    if (has_result) complain("a result without a record");
    return;
  }
  if (found == entries.rend()) return complain("there is no record");
  const Draft& record = found->draft;
  const auto sequence = static_cast<std::uint64_t>(entries.rend() - found) - 1;
  if (answer.sequence != 0 && answer.sequence != sequence) complain("names another record");
  if (is_join(record)) {
    if (answer.outcome.kind != Outcome::Kind::RequiresConfirmation) complain("it only waits");
    return;
  }
  if (record.outcome != to_string(answer.outcome.kind)) complain("the record is " + record.outcome);
  if (has_result && answer.result.output.size() > kWholeOutput) return;
  if (canonical_json(to_json(answer.outcome)) != canonical_json(record.body.at("outcome"))) {
    complain("the record has another outcome");
  }
  if (to_string(answer.effect) != effect_of(record)) complain("the record has another effect");
}

}  // namespace sallyport::test
