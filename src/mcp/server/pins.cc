#include "mcp/server/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

namespace {

using core::Draft;
using core::Fact;

constexpr std::string_view kPinned = "tool_pin";
constexpr std::string_view kChanged = "tool_pin_changed";

std::string digest_of(const ToolDefinition& tool) {
  return "2:" + tool.hash;
}

std::string key_of(const std::string& server, const std::string& tool) {
  return canonical_json(json::array{server, tool});
}

Draft entry(std::string_view what, const std::string& server, const std::string& tool,
            const std::string& hash, json::value definition) {
  return {
      .kind = core::Kind::Topic,
      .subject = Subject{.server = server, .tool_name = tool},
      .topic = "tool_pins",
      .body = {{"record", what}, {"definition_hash", hash}, {"snapshot", std::move(definition)}}};
}

// Written once by each process that finds a server full. Names of unpinned tools are not stored.
Draft no_room_entry(const std::string& server, std::size_t most) {
  return {.kind = core::Kind::Topic,
          .subject = Subject{.server = server},
          .topic = "tool_pins",
          .body = {{"record", "tool_pins_full"}, {"most", most}}};
}

Result<core::Placed> placed(const std::string& stored) {
  std::optional<core::Placed> parts = core::split_place(stored);
  if (!parts) return fail(ErrorCode::Corrupt, "a tool pin cannot be read");
  return std::move(*parts);
}

Result<void> add_change(core::RecordReader& records, const std::string& key, Pin& pin) {
  SALLYPORT_TRY(const std::optional<std::string> changed, records.fact(kChanged, key));
  if (!changed) return {};
  SALLYPORT_TRY(const core::Placed place, placed(*changed));
  pin.changed_hash = place.value;
  pin.changed_sequence = place.sequence;
  return {};
}

std::optional<std::string> stored_pin(const std::string& hash, std::uint64_t sequence) {
  return hash.empty() ? std::nullopt : std::optional(fmt::format("{}@{}", hash, sequence));
}

// The facts as they were read. Without a pin, the fact of its change was not read.
void append_expected(std::vector<Fact>& expected, const std::string& key,
                     const std::optional<Pin>& pin) {
  expected.push_back(
      {std::string(kPinned), key, pin ? stored_pin(pin->hash, pin->sequence) : std::nullopt});
  if (!pin) return;
  expected.push_back(
      {std::string(kChanged), key, stored_pin(pin->changed_hash, pin->changed_sequence)});
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@-";
  if (word.find_first_not_of(kHarmless) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace

std::vector<core::Fact> held_facts(const std::string& server, const std::string& tool) {
  const std::string key = key_of(server, tool);
  return {{std::string(kPinned), key, "2:accepted@1"}, {std::string(kChanged), key, "2:changed@2"}};
}

std::string pins_command(std::string_view verb, const std::string& server,
                         const std::string& tool) {
  return fmt::format("sallyport pins {} {} {}{}", verb, shell_word(server),
                     tool.starts_with('-') ? "-- " : "", shell_word(tool));
}

Result<std::optional<Pin>> find_pin(core::RecordReader& records, const std::string& server,
                                    const std::string& tool) {
  const std::string key = key_of(server, tool);
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kPinned, key));
  if (!stored) return std::nullopt;
  SALLYPORT_TRY(const core::Placed place, placed(*stored));
  Pin pin{server, tool, place.value, place.sequence};
  SALLYPORT_CHECK_OK(add_change(records, key, pin));
  return pin;
}

Result<std::vector<Pin>> all_pins(core::RecordReader& records) {
  std::vector<Pin> pins;
  SALLYPORT_TRY(const std::vector<Fact> facts, records.facts(kPinned));
  for (const Fact& fact : facts) {
    SALLYPORT_TRY(const json::value key, parse_own_json(fact.key));
    const json::array* const names = key.if_array();
    if (names == nullptr || names->size() != 2 || !fact.value) {
      return fail(ErrorCode::Corrupt, "a tool pin cannot be read");
    }
    SALLYPORT_TRY(const core::Placed place, placed(*fact.value));
    Pin pin{json::value_to<std::string>(names->at(0)), json::value_to<std::string>(names->at(1)),
            place.value, place.sequence};
    SALLYPORT_CHECK_OK(add_change(records, fact.key, pin));
    pins.push_back(std::move(pin));
  }
  return pins;
}

Result<json::value> pinned_definition(core::RecordReader& records, std::uint64_t sequence) {
  SALLYPORT_TRY(const json::object entry, records.entry(sequence));
  const json::object* const body = object_in(entry, "body");
  const json::value* const definition = body ? body->if_contains("snapshot") : nullptr;
  const json::object* const members = definition ? definition->if_object() : nullptr;
  if (members == nullptr || members->contains("$sealed")) {
    return fail(ErrorCode::NotFound, "the definition was erased");
  }
  return *definition;
}

Task<void> accept_pin(core::RecordLog& records, Pin pin, std::string person) {
  if (!pin.held()) {
    co_return fail(ErrorCode::NotFound,
                   fmt::format("`{}` of `{}` has no change to accept", pin.tool, pin.server));
  }
  SALLYPORT_CO_TRY(json::value definition, pinned_definition(records, pin.changed_sequence));
  const std::string key = key_of(pin.server, pin.tool);
  Draft draft = entry("tool_accepted", pin.server, pin.tool, pin.changed_hash, definition);
  draft.body["who"] = person;
  draft.facts.push_back({std::string(kPinned), key, pin.changed_hash, true});
  draft.facts.push_back({std::string(kChanged), key, std::nullopt});
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  std::vector<Fact> expected{
      {std::string(kChanged), key, stored_pin(pin.changed_hash, pin.changed_sequence)}};
  SALLYPORT_CO_TRY(
      [[maybe_unused]] const auto written,
      co_await records.append(std::move(drafts), core::Urgency::Announces, std::move(expected)));
  co_return Result<void>{};
}

// How many more tools of the server may be pinned.
Result<std::size_t> PinBook::room(const std::string& server) {
  if (noted_full_.with([&](const auto& names) { return names.contains(server); })) return 0u;
  SALLYPORT_TRY(const std::vector<Fact> facts, records_.facts(kPinned));
  std::string begin = canonical_json(json::array{server});
  begin.back() = ',';
  const std::string instructions = key_of(server, std::string(kInstructionsPin));  // no tool
  const auto pinned = static_cast<std::size_t>(std::ranges::count_if(facts, [&](const Fact& fact) {
    return fact.key.starts_with(begin) && fact.key != instructions;
  }));
  return most_of_server_ - std::min(pinned, most_of_server_);
}

Result<PinBook::Comparison> PinBook::compare(const std::string& server,
                                             const std::vector<ToolDefinition>& tools) {
  Comparison found;
  std::optional<std::size_t> room;  // counted when something is new, which is seldom
  for (const ToolDefinition& tool : tools) {
    SALLYPORT_TRY(const std::optional<Pin> pin, find_pin(records_, server, tool.name));
    const std::string key = key_of(server, tool.name);
    const std::string digest = digest_of(tool);
    const bool fits = pin && (pin->hash == digest || pin->hash == tool.first_hash);
    if (pin && !fits) found.held.changed.insert(tool.name);
    const auto add = [&](std::string_view what, json::value definition, std::vector<Fact> facts) {
      found.drafts.push_back(entry(what, server, tool.name, digest, std::move(definition)));
      found.drafts.back().facts = std::move(facts);
      append_expected(found.expected, key, pin);
    };
    const Fact pinned{std::string(kPinned), key, digest, true};
    const Fact changed{std::string(kChanged), key, digest, true};
    const Fact unchanged{std::string(kChanged), key, std::nullopt};
    if (!pin) {
      if (tool.name != kInstructionsPin) {
        if (!room) {
          SALLYPORT_TRY(room, this->room(server));
        }
        if (*room == 0) {
          found.held.beyond.insert(tool.name);
          continue;
        }
        --*room;
      }
      add("tool_pinned", tool.pinned, {pinned});
    } else if (!fits && pin->changed_hash != digest) {
      add("tool_changed", tool.pinned, {changed});
    } else if (fits && pin->hash != digest) {
      add("tool_repinned", tool.pinned, {pinned});
      if (pin->held()) found.drafts.back().facts.push_back(unchanged);
    } else if (fits && pin->held()) {
      add("tool_unchanged", nullptr, {unchanged});
    }
  }
  return found;
}

Task<HeldBack> PinBook::look(std::string server, std::vector<ToolDefinition> tools) {
  constexpr unsigned kLooks = 16;
  for (unsigned looks = 0; looks < kLooks; ++looks) {
    SALLYPORT_CO_TRY(Comparison found, compare(server, tools));
    held_.with([&](auto& names) {
      for (const ToolDefinition& tool : tools) {
        if (found.held.changed.contains(tool.name)) {
          names.emplace(server, tool.name);
        } else {
          names.erase({server, tool.name});
        }
      }
    });
    const bool is_full = !found.held.beyond.empty();
    if (is_full) full_.with([&](auto& names) { names.insert(server); });
    const bool newly_full =
        is_full && !noted_full_.with([&](auto& names) { return names.contains(server); });
    if (newly_full) found.drafts.push_back(no_room_entry(server, most_of_server_));
    if (found.drafts.empty()) co_return std::move(found.held);
    const auto written = co_await records_.append(std::move(found.drafts), core::Urgency::Announces,
                                                  std::move(found.expected));
    if (written) {
      if (newly_full) noted_full_.with([&](auto& names) { names.insert(server); });
      co_return std::move(found.held);
    }
    // Another process has pinned, changed or accepted one of these tools since it was read.
    if (written.error().code != ErrorCode::Conflict) co_return std::unexpected(written.error());
  }
  co_return fail(ErrorCode::Unavailable,
                 "other processes keep changing the pins of these tools; try again");
}

Result<void> PinBook::recall() {
  SALLYPORT_TRY(const std::vector<Pin> pins, all_pins(records_));
  held_.with([&](auto& names) {
    for (const Pin& pin : pins) {
      if (pin.held()) names.emplace(pin.server, pin.tool);
    }
  });
  return {};
}

bool PinBook::held(const std::string& server, const std::string& tool) const {
  const bool was = held_.with([&](const auto& names) { return names.contains({server, tool}); });
  if (!was) return false;
  const Result<std::optional<Pin>> pin = find_pin(records_, server, tool);
  return !pin || !*pin || (*pin)->held();
}

bool PinBook::beyond(const std::string& server, const std::string& tool) const {
  const bool full = full_.with([&](const auto& names) { return names.contains(server); });
  if (!full || is_governed(tool)) return false;  // only tools are pinned
  const Result<std::optional<Pin>> pin = find_pin(records_, server, tool);
  return !pin || !*pin;
}

std::string no_room_for(const std::string& server, std::size_t most) {
  return fmt::format(
      "{} tools of `{}` are pinned, the most that one server may have; look at them with "
      "`sallyport pins list {}`, and give the server another name if all is well",
      most, server, shell_word(server));
}

PinGuard::PinGuard(const PinBook& book) : book_(book) {
  traits_.name = "tool-pins";
}

Task<Verdict> PinGuard::judge(const Call& call, const core::GuardContext&) const {
  if (book_.beyond(call.server, call.tool)) {
    co_return Verdict::deny(fmt::format("`{}` is a new tool, and {}", call.tool,
                                        no_room_for(call.server, book_.most_of_server())),
                            "pin.beyond");
  }
  if (!book_.held(call.server, call.tool)) co_return Verdict::allow();
  co_return Verdict::deny(
      fmt::format("the definition of `{}` has changed since it was first seen; a person must look "
                  "at it (`{}`)",
                  call.tool, pins_command("diff", call.server, call.tool)),
      "pin.changed");
}

}  // namespace sallyport::mcp
