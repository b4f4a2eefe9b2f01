#include "records/gaps.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <istream>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/read/query.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

// A log may hold millions; a person reads the first of them, and the number.
constexpr std::size_t kMostGaps = 10'000;

constexpr std::string_view kTurnedAway = "turned_away";

std::string text(const json::object& body, std::string_view name) {
  return visible(text_in(body, name).value_or("?"));
}

bool says_unknown(std::string_view bytes) {
  return bytes.find(R"("effect_state":"unknown")") != std::string_view::npos;
}

constexpr auto kGapKinds = std::to_array<std::string_view>(
    {"downtime", "fail_open", "clock_step", "key_rotation", "rollback", "witness", "erased",
     "pruned", "turned_away", "unknown_outcome"});
static_assert(kGapKinds.size() == static_cast<std::size_t>(GapKind::UnknownOutcome) + 1);

}  // namespace

std::string_view to_string(GapKind kind) {
  return kGapKinds[static_cast<std::size_t>(kind)];
}

std::vector<std::string> gap_kinds() {
  return {kGapKinds.begin(), kGapKinds.end()};
}

void GapList::note(const json::object& entry, GapKind kind, std::string detail) {
  if (gaps_.size() == kMostGaps) {
    ++left_out_;
    return;
  }
  gaps_.push_back({number_in(entry, "sequence").value_or(0), text(entry, "recorded_at"), kind,
                   std::move(detail)});
}

void GapList::look_at(const json::value& entry) {
  const json::object* const object = entry.if_object();
  const json::object* const body = object == nullptr ? nullptr : object_in(*object, "body");
  if (body == nullptr) return;
  const auto kind = text_in(*object, "kind");
  if (kind == "control") note_control(*object, *body);
  if (text_in(*object, "topic") == kTurnedAway) {
    note(*object, GapKind::TurnedAway,
         fmt::format("{} calls were refused without a record and {} reports dropped since {}: too "
                     "many records waited for the disk",
                     number_in(*body, "calls").value_or(0), number_in(*body, "reports").value_or(0),
                     text(*body, "since")));
  }
  if (kind == "tool_audit" && text_in(*body, "effect_state") == "unknown") {
    note(*object, GapKind::UnknownOutcome,
         fmt::format("call {} of {}: it was called and no answer is known",
                     text(*object, "call_id"), text(*object, "tool_name")));
  }
}

void GapList::note_control(const json::object& entry, const json::object& body) {
  const std::string control = text(body, "control");
  if (control == "gap") {
    // Between a stop in order and the next start nothing can be missing.
    if (bool_in(body, "clean").value_or(false)) return;
    note(entry, GapKind::Downtime,
         fmt::format("no process wrote since {}; the last one ended without a stop",
                     text(body, "last_entry_at")));
  } else if (control == "fail_open_started") {
    note(entry, GapKind::FailOpen,
         fmt::format("guard {} let calls pass: {}", text(body, "guard"), text(body, "cause")));
  } else if (control == "fail_open_ended") {
    note(entry, GapKind::FailOpen,
         fmt::format("guard {} works again after {} calls", text(body, "guard"),
                     number_in(body, "calls").value_or(0)));
  } else if (control == "clock_step") {
    note(entry, GapKind::ClockStep,
         fmt::format("from {} to {}", text(body, "wall_before"), text(body, "wall_now")));
  } else if (control == "key_rotated") {
    note(entry, GapKind::KeyRotation,
         fmt::format(
             "now {}{}", text(body, "new"),
             bool_in(body, "compromised").value_or(true) ? ", the old key was compromised" : ""));
  } else if (control == "rollback_acknowledged") {
    note(entry, GapKind::Rollback,
         fmt::format("accepted at {} entries", number_in(body, "size").value_or(0)));
  } else if (control == "witness_refused") {
    note(entry, GapKind::Witness,
         fmt::format("{} refused size {}: {}", text(body, "witness"),
                     number_in(body, "size").value_or(0), text(body, "reason")));
  } else if (control == "erased") {
    note(entry, GapKind::Erased,
         fmt::format("{} values by {}", number_in(body, "count").value_or(0), text(body, "who")));
  } else if (control == "pruned") {
    note(entry, GapKind::Pruned,
         fmt::format("{} entries below {} by {}", number_in(body, "count").value_or(0),
                     number_in(body, "minimum_index").value_or(0), text(body, "who")));
  }
}

json::object Gap::to_json() const {
  return {{"sequence", sequence}, {"at", at}, {"kind", to_string(kind)}, {"detail", detail}};
}

json::array GapList::to_json() const {
  json::array list;
  for (const Gap& gap : gaps_) list.push_back(gap.to_json());
  return list;
}

Result<GapList> find_gaps(ledger::ReadView& view) {
  GapList gaps;
  const ledger::OnMatch look = [&](const ledger::StoredEntry& stored,
                                   const ledger::EntryView& entry) -> Result<bool> {
    // Parsing costs more than looking, and almost every call has an outcome.
    const bool counts = entry.kind == "control" || entry.topic == kTurnedAway;
    if (!counts && !says_unknown(*stored.bytes)) return true;
    SALLYPORT_TRY(const json::value value, parse_own_json(*stored.bytes));
    gaps.look_at(value);
    return true;
  };
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, {},
      [&](const ledger::StoredEntry& stored, const ledger::EntryView& entry) -> Result<bool> {
        if (entry.kind != "control" && entry.kind != "tool_audit" && entry.topic != kTurnedAway) {
          return true;
        }
        return look(stored, entry);
      }));
  return gaps;
}

Result<GapList> find_gaps(std::istream& lines) {
  GapList gaps;
  std::string line;
  while (std::getline(lines, line)) {
    const bool counts = line.find(R"("kind":"control")") != std::string::npos ||
                        line.find(R"("topic":"turned_away")") != std::string::npos;
    if (!counts && !says_unknown(line)) continue;
    SALLYPORT_TRY(const json::value value, parse_own_json(line, {.depth = 132}));
    const json::object* const object = value.if_object();
    const json::value* const entry = object == nullptr ? nullptr : object->if_contains("entry");
    if (entry != nullptr) gaps.look_at(*entry);
  }
  return gaps;
}

}  // namespace sallyport::app
