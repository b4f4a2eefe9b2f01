#include "ledger/maintenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/open_calls.h"
#include "ledger/read/query.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

// A control entry stays small, however much it covers.
constexpr std::size_t kListedPaths = 100;

Filter filter_of(const Selection& selection) {
  Filter filter{.since = selection.since, .until = selection.until};
  if (selection.call_id) filter.facets[Facet::Call] = *selection.call_id;
  if (selection.session_id) filter.facets[Facet::Session] = *selection.session_id;
  if (selection.agent_id) filter.facets[Facet::Agent] = *selection.agent_id;
  if (selection.kind) filter.facets[Facet::Kind] = *selection.kind;
  return filter;
}

bool covers(const Selection& selection, const EntryView& entry) {
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  return (!selection.call_id || *selection.call_id == entry.call_id) &&
         (!selection.session_id || *selection.session_id == entry.session_id) &&
         (!selection.agent_id || *selection.agent_id == entry.agent_id) &&
         (!selection.kind || *selection.kind == entry.kind) &&
         (!selection.since || (time && *time >= *selection.since)) &&
         (!selection.until || (time && *time < *selection.until));
}

const Hold* hold_on(const std::vector<Hold>& holds, const EntryView& entry) {
  const auto found =
      std::ranges::find_if(holds, [&](const Hold& hold) { return covers(hold.selection, entry); });
  return found == holds.end() ? nullptr : &*found;
}

Result<void> refuse_if_held(const std::vector<Hold>& holds, const EntryView& entry) {
  const Hold* const hold = hold_on(holds, entry);
  if (hold == nullptr) return {};
  return fail(ErrorCode::Conflict, fmt::format("hold `{}` keeps entry {}: {}; lift it first",
                                               hold->id, entry.sequence, hold->reason));
}

bool under(std::string_view path, std::string_view selected) {
  return path == selected || (path.starts_with(selected) && path[selected.size()] == '/');
}

bool announces_key(const StoredEntry& stored) {
  return stored.bytes && stored.bytes->find(R"("control":"key_)") != std::string::npos;
}

// What an erasure takes out.
struct Taken {
  std::vector<std::string> paths;  // distinct, and not all
  std::uint64_t count = 0;
  bool before = false;  // some of what is selected was erased before
};

// The packed openings without the selected ones. No value: none is selected.
Result<std::optional<std::string>> without(const StoredEntry& stored, const Selection& selection,
                                           Taken& taken) {
  SALLYPORT_TRY(std::vector<Opening> openings, openings_of(stored));
  bool changed = false;
  for (Opening& opening : openings) {
    if (selection.path && !under(opening.path, *selection.path)) continue;
    if (opening.state == OpeningState::Erased) {
      taken.before = true;
      continue;
    }
    const bool listed = std::ranges::find(taken.paths, opening.path) != taken.paths.end();
    if (!listed && taken.paths.size() < kListedPaths) taken.paths.push_back(opening.path);
    opening.state = OpeningState::Erased;
    opening.salt = {};
    opening.value.clear();
    changed = true;
    ++taken.count;
  }
  if (!changed) return std::nullopt;
  return pack_openings(openings);
}

}  // namespace

bool Selection::empty() const {
  return !call_id && !session_id && !agent_id && !kind && !since && !until && !path;
}

json::object Selection::to_json() const {
  json::object object;
  if (call_id) object["call_id"] = *call_id;
  if (session_id) object["session_id"] = *session_id;
  if (agent_id) object["agent_id"] = *agent_id;
  if (kind) object["kind"] = *kind;
  if (since) object["since"] = rfc3339(*since);
  if (until) object["until"] = rfc3339(*until);
  if (path) object["path"] = *path;
  return object;
}

Result<Selection> Selection::from_json(const json::value& value) {
  Selection selection;
  if (!value.is_object()) return fail(ErrorCode::Corrupt, "a selection is an object");
  for (const json::key_value_pair& member : value.get_object()) {
    if (!member.value().is_string()) return fail(ErrorCode::Corrupt, "a selection holds text");
    const std::string text(member.value().get_string());
    if (member.key() == "call_id") selection.call_id = text;
    if (member.key() == "session_id") selection.session_id = text;
    if (member.key() == "agent_id") selection.agent_id = text;
    if (member.key() == "kind") selection.kind = text;
    if (member.key() == "since") selection.since = from_rfc3339(text);
    if (member.key() == "until") selection.until = from_rfc3339(text);
    if (member.key() == "path") selection.path = text;
  }
  return selection;
}

bool selects(const Selection& selection, const EntryView& entry, std::string_view path) {
  return covers(selection, entry) && (!selection.path || under(path, *selection.path));
}

Group::Compose erase(Selection selection, std::string actor, std::string reason, Held held,
                     LeftCalls left_calls) {
  return [=](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const std::vector<Hold> kept, holds(view));
    SALLYPORT_TRY(OpenCalls open, OpenCalls::in(view));
    std::map<std::string, core::ApprovalStatus> left;
    if (left_calls.end) left = open.take_left(left_calls.now);
    Taken taken;
    std::set<std::string> calls;
    std::vector<std::pair<std::uint64_t, std::string>> changes;
    SALLYPORT_CHECK_OK(find_entries(
        view, filter_of(selection),
        [&](const StoredEntry& stored, const EntryView& entry) -> Result<bool> {
          const bool stays = hold_on(kept, entry) != nullptr || open.has(entry.call_id);
          if (held == Held::Skip && stays) return true;
          SALLYPORT_TRY(std::optional<std::string> packed, without(stored, selection, taken));
          if (packed) {
            SALLYPORT_CHECK_OK(refuse_if_held(kept, entry));
            SALLYPORT_CHECK_OK(open.refuse(entry));
            if (!entry.call_id.empty()) calls.insert(entry.call_id);
            changes.emplace_back(stored.sequence, std::move(*packed));
          }
          return true;
        }));
    if (changes.empty()) {
      return fail(ErrorCode::NotFound, "no entry with content matches; leave a filter out", {},
                  taken.before ? kRemovedBefore : "");
    }
    for (const auto& [sequence, packed] : changes) {
      SALLYPORT_CHECK_OK(view.replace_openings(sequence, packed));
    }
    SALLYPORT_CHECK_OK(drop_kept_copies(view, calls));
    json::array fields;
    for (const std::string& path : taken.paths) fields.emplace_back(path);
    std::vector drafts{control("erased", {{"who", actor},
                                          {"selection", selection.to_json()},
                                          {"fields", std::move(fields)},
                                          {"count", taken.count},
                                          {"reason", reason}})};
    for (const auto& [call_id, status] : left) {
      if (!calls.contains(call_id)) continue;
      SALLYPORT_TRY(std::vector<core::Draft> ends, end_left(view, call_id, status, left_calls.end));
      std::ranges::move(ends, std::back_inserter(drafts));
    }
    return drafts;
  };
}

Group::Compose prune(std::uint64_t minimum, std::string actor, std::string reason) {
  return [=](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    if (minimum > size) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the ledger has {} entries, {} is beyond its end", size, minimum));
    }
    SALLYPORT_TRY(const std::vector<Hold> kept, holds(view));
    SALLYPORT_TRY(const OpenCalls open, OpenCalls::in(view));
    SALLYPORT_TRY(const auto waiting, waiting_entries(view));
    std::uint64_t count = 0;
    bool before = false;
    std::vector<std::uint64_t> whole = {minimum};
    SALLYPORT_CHECK_OK(view.scan(0, minimum, [&](const StoredEntry& stored) -> Result<bool> {
      if (announces_key(stored)) whole.insert(whole.end() - 1, stored.sequence);
      before = before || !stored.bytes;
      if (!stored.bytes || announces_key(stored)) return true;
      SALLYPORT_TRY(const EntryView entry, view_entry(*stored.bytes));
      SALLYPORT_CHECK_OK(refuse_if_held(kept, entry));
      // Must not hide the changes of another program.
      SALLYPORT_TRY([[maybe_unused]] const std::vector<Opening> openings, openings_of(stored));
      SALLYPORT_CHECK_OK(open.refuse(entry));
      if (const auto wait = waiting.find(stored.sequence); wait != waiting.end()) {
        return fail(ErrorCode::Conflict,
                    fmt::format("entry {} is still needed: {}", stored.sequence, wait->second));
      }
      ++count;
      return true;
    }));
    if (count == 0) {
      return fail(ErrorCode::NotFound,
                  fmt::format("no entry below sequence {} has bytes to prune", minimum), {},
                  before ? kRemovedBefore : "");
    }
    std::uint64_t begin = 0;
    for (const std::uint64_t end : whole) {
      SALLYPORT_CHECK_OK(view.drop_bytes(begin, end));
      begin = end + 1;
    }
    return std::vector{control(
        "pruned",
        {{"who", actor}, {"minimum_index", minimum}, {"count", count}, {"reason", reason}})};
  };
}

Group::Compose set_hold(std::string id, Selection selection, std::string actor,
                        std::string reason) {
  return [=](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const std::optional<std::string> before, view.fact("hold", id));
    if (before) return fail(ErrorCode::Conflict, fmt::format("there is a hold `{}` already", id));
    core::Draft draft = control(
        "hold_set",
        {{"who", actor}, {"hold", id}, {"selection", selection.to_json()}, {"reason", reason}});
    draft.facts.push_back(
        {"hold", id,
         canonical_json(json::object{{"selection", selection.to_json()}, {"who", actor}})});
    return std::vector{std::move(draft)};
  };
}

Group::Compose lift_hold(std::string id, std::string actor, std::string reason) {
  return [=](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const std::optional<std::string> before, view.fact("hold", id));
    if (!before)
      return fail(
          ErrorCode::NotFound,
          fmt::format("there is no hold `{}`; `sallyport ledger hold list` shows them", id));
    core::Draft draft = control("hold_lifted", {{"who", actor}, {"hold", id}, {"reason", reason}});
    draft.facts.push_back({"hold", id, std::nullopt});
    return std::vector{std::move(draft)};
  };
}

Result<bool> covers_any(ReadView& view, const Selection& selection) {
  bool any = false;
  SALLYPORT_CHECK_OK(find_entries(view, filter_of(selection),
                                  [&](const StoredEntry&, const EntryView&) -> Result<bool> {
                                    any = true;
                                    return false;
                                  }));
  return any;
}

Result<std::vector<Hold>> holds(ReadView& view) {
  SALLYPORT_TRY(const std::vector<core::Fact> facts, view.facts("hold"));
  std::vector<Hold> holds;
  for (const core::Fact& fact : facts) {
    SALLYPORT_TRY(const json::value value, parse_own_json(*fact.value));
    Hold hold{.id = fact.key, .reason = "(pruned)"};
    SALLYPORT_TRY(hold.selection, Selection::from_json(value.at("selection")));
    hold.actor = value.at("who").as_string();
    holds.push_back(std::move(hold));
  }
  if (holds.empty()) return holds;
  // The reason is content: only the sealed part of the entry that set the hold has it.
  SALLYPORT_CHECK_OK(
      find_entries(view, {.facets = {{Facet::Kind, "control"}}},
                   [&](const StoredEntry& stored, const EntryView&) -> Result<bool> {
                     if (stored.bytes->find(R"("control":"hold_set")") == std::string::npos)
                       return true;
                     SALLYPORT_TRY(const json::value entry, parse_own_json(*stored.bytes));
                     SALLYPORT_TRY(const std::vector<Opening> openings, openings_of(stored));
                     const json::value body = opened_body(entry, openings);
                     for (Hold& hold : holds) {
                       if (text_in(body.get_object(), "hold") == hold.id) {
                         hold.reason = text_in(body.get_object(), "reason").value_or("(erased)");
                       }
                     }
                     return true;
                   }));
  return holds;
}

}  // namespace sallyport::ledger
