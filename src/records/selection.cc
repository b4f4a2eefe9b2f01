#include "records/selection.h"

#include <fmt/format.h>

#include <charconv>

#include "base/clock.h"
#include "base/cut_text.h"
#include "base/encoding.h"
#include "base/nearest.h"
#include "base/try.h"
#include "core/event/topic_name.h"
#include "ledger/read/stored_entry.h"
#include "sallyport/event.h"
#include "sallyport/json.h"
#include "sallyport/outcome.h"
#include "terminal/input.h"
#include "trust/trust_record.h"
#include "workspace/config/config.h"

namespace sallyport::app {

namespace {

using ledger::Facet;

constexpr std::size_t kMaxId = 1024;
constexpr std::uint64_t kMaxCount = (1ull << 53) - 1;

std::unexpected<Error> usage(std::string message, std::string place = {}) {
  return fail(ErrorCode::InvalidInput, std::move(message), std::move(place));
}

// The name of a filter in messages, and its place in an HTTP request.
struct Named {
  std::string text;
  std::string place{};
};

Named named(std::string_view word, Spelling spelling) {
  if (spelling == Spelling::Option) return {fmt::format("--{}", word)};
  return {std::string(word), std::string(word)};
}

Result<WallTime> time_from(const std::string& text, const Named& name) {
  const std::optional<WallTime> time = from_rfc3339(text);
  if (time) return *time;
  // People mostly type a day without a time.
  const std::optional<WallTime> day = from_rfc3339(text + "T00:00:00Z");
  if (day) return *day;
  if (const auto ago = parse_duration(text)) return SystemClock().wall() - *ago;
  return usage(
      fmt::format(
          "{} `{}` is not a time; write 2026-11-15T02:00:00Z, 2026-11-15, or 1h for an hour ago",
          name.text, text),
      name.place);
}

// Accepts an id that an entry can contain.
Result<std::string> id_from(const std::string& text, const Named& name) {
  const bool printable = std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!text.empty() && text.size() <= kMaxId && printable && check_json(json::value(text))) {
    return text;
  }
  return usage(fmt::format("{} `{}` is not an id; copy one from `sallyport ledger tail`", name.text,
                           cut_utf8_bytes(text, 80)),
               name.place);
}

Result<std::string> kind_from(const std::string& text, const Named& name) {
  if (core::kind_from(text)) return text;
  const auto words = core::kind_words();
  const std::vector<std::string> kinds(words.begin(), words.end());
  return usage(fmt::format("there is no kind `{}`{}; `sallyport ledger schema` lists them", text,
                           did_you_mean(text, kinds)),
               name.place);
}

// The outcome of a call or of a trust record.
Result<std::string> outcome_from(const std::string& text, const Named& name) {
  if (outcome_kind_from(text) || trust::outcome_from(text)) return text;
  std::vector<std::string> words;
  for (int kind = 0; kind <= static_cast<int>(Outcome::Kind::PersistenceFailed); ++kind) {
    words.emplace_back(to_string(static_cast<Outcome::Kind>(kind)));
  }
  for (int kind = 0; kind <= static_cast<int>(trust::Outcome::Timeout); ++kind) {
    words.emplace_back(to_string(static_cast<trust::Outcome>(kind)));
  }
  return usage(fmt::format("there is no outcome `{}`{}; one of {}", cut_utf8_bytes(text, 80),
                           did_you_mean(text, words), fmt::join(words, ", ")),
               name.place);
}

Result<std::string> path_from(const std::string& text) {
  bool pointer = text.starts_with('/');
  for (std::size_t at = text.find('~'); at != std::string::npos; at = text.find('~', at + 1)) {
    pointer = pointer && at + 1 < text.size() && (text[at + 1] == '0' || text[at + 1] == '1');
  }
  if (pointer && check_json(json::value(text))) return text;
  return usage(fmt::format(
      "--path `{}` is not a JSON Pointer into an entry; write for example /body/result", text));
}

// The filters on members that only the body of a record has.
Result<std::vector<std::pair<std::string, json::value>>> body_from(const FilterOptions& options,
                                                                   Spelling spelling) {
  std::vector<std::pair<std::string, json::value>> body;
  const std::tuple<const std::optional<std::string>&, const char*, const char*> members[] = {
      {options.tool_call, "tool_call_id", "tool-call-id"},
      {options.approval, "approval_id", "approval"}};
  for (const auto& [value, member, name] : members) {
    if (!value) continue;
    SALLYPORT_TRY(std::string id, id_from(*value, named(name, spelling)));
    body.emplace_back(member, json::value(id));
  }
  if (options.terminal) {
    if (*options.terminal != "true" && *options.terminal != "false") {
      return usage(fmt::format("--terminal is `{}`, it must be true or false", *options.terminal));
    }
    body.emplace_back("terminal", json::value(*options.terminal == "true"));
  }
  if (options.event_type) {
    if (!is_event_type(*options.event_type)) {
      return usage(fmt::format("there is no event `{}`; docs/events.md lists them",
                               options.event_type->substr(0, 80)));
    }
    body.emplace_back("kind", json::value(*options.event_type));
  }
  return body;
}

// The trust records of one agent have their own name within the topic of all trust records (TR-8).
Result<void> add_topic(ledger::Filter& filter, const std::string& topic, const Named& as) {
  constexpr std::string_view kTrustTopic = "trust_graph";
  constexpr std::string_view kOfOneAgent = "trust_graph.";
  if (topic.starts_with(kOfOneAgent) && topic.size() > kOfOneAgent.size()) {
    filter.facets[Facet::Topic] = kTrustTopic;
    filter.facets[Facet::Agent] = topic.substr(kOfOneAgent.size());
    return {};
  }
  const Result<void> name = core::check_topic_name(topic);
  if (!name) return usage(fmt::format("{}: {}", as.text, name.error().message), as.place);
  filter.facets[Facet::Topic] = topic;
  return {};
}

// An empty span is a mistake: a hold on it would keep nothing.
Result<void> check_span(const std::optional<WallTime>& since, const std::optional<WallTime>& until,
                        Spelling spelling) {
  if (!since || !until || *until >= *since) return {};
  const Named end = named("until", spelling);
  return usage(fmt::format("{} is before {}", end.text, named("since", spelling).text), end.place);
}

bool has_uuid_shape(std::string_view text) {
  return text.size() == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' &&
         text[23] == '-';
}

}  // namespace

namespace {

// Digits, perhaps behind a minus sign.
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<std::uint64_t> count_from(const std::string& text, std::string_view what) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number <= kMaxCount) {
    return number;
  }
  const std::string wrong =
      is_number(text) ? fmt::format("not between 0 and {}", kMaxCount) : "not a whole number";
  return usage(fmt::format("{} `{}` is {}", what, text.substr(0, 80), wrong));
}

Result<std::uint64_t> limit_from(const std::string& text, std::string_view what,
                                 std::uint64_t most) {
  const Result<std::uint64_t> limit = count_from(text, what);
  const bool below = limit ? *limit == 0 : text.starts_with('-') && is_number(text);
  return below ? usage(fmt::format("{} must be from 1 to {}", what, most)) : limit;
}

Result<ledger::Filter> filter_from(const FilterOptions& options, Spelling spelling) {
  const auto as = [spelling](std::string_view word) { return named(word, spelling); };
  ledger::Filter filter;
  const std::tuple<const std::optional<std::string>&, Facet, const char*> facets[] = {
      {options.call, Facet::Call, "call"},    {options.session, Facet::Session, "session"},
      {options.agent, Facet::Agent, "agent"}, {options.server, Facet::Server, "server"},
      {options.tool, Facet::Tool, "tool"},    {options.run, Facet::Run, "run"},
  };
  for (const auto& [value, facet, name] : facets) {
    if (value) {
      SALLYPORT_TRY(filter.facets[facet], id_from(*value, as(name)));
    }
  }
  if (options.outcome) {
    SALLYPORT_TRY(filter.facets[Facet::Outcome], outcome_from(*options.outcome, as("outcome")));
  }
  if (options.topic) SALLYPORT_CHECK_OK(add_topic(filter, *options.topic, as("topic")));
  if (options.kind) {
    SALLYPORT_TRY(filter.facets[Facet::Kind], kind_from(*options.kind, as("kind")));
  } else if (options.event_type) {
    filter.facets[Facet::Kind] = "event";
  }
  SALLYPORT_TRY(filter.body, body_from(options, spelling));
  if (options.since) {
    SALLYPORT_TRY(filter.since, time_from(*options.since, as("since")));
  }
  if (options.until) {
    SALLYPORT_TRY(filter.until, time_from(*options.until, as("until")));
  }
  SALLYPORT_CHECK_OK(check_span(filter.since, filter.until, spelling));
  if (options.after) {
    SALLYPORT_TRY(filter.after, count_from(*options.after, "--after"));
  }
  return filter;
}

Result<ledger::Selection> selection_from(const SelectionOptions& options, std::string_view more) {
  ledger::Selection selection;
  if (options.call) {
    SALLYPORT_TRY(selection.call_id, id_from(*options.call, {"--call"}));
  }
  if (options.session) {
    SALLYPORT_TRY(selection.session_id, id_from(*options.session, {"--session"}));
  }
  if (options.agent) {
    SALLYPORT_TRY(selection.agent_id, id_from(*options.agent, {"--agent"}));
  }
  if (options.kind) {
    SALLYPORT_TRY(selection.kind, kind_from(*options.kind, {"--kind"}));
  }
  if (options.since) {
    SALLYPORT_TRY(selection.since, time_from(*options.since, {"--since"}));
  }
  if (options.until) {
    SALLYPORT_TRY(selection.until, time_from(*options.until, {"--until"}));
  }
  if (options.path) {
    SALLYPORT_TRY(selection.path, path_from(*options.path));
  }
  SALLYPORT_CHECK_OK(check_span(selection.since, selection.until, Spelling::Option));
  if (!selection.empty()) return selection;
  return usage(
      fmt::format("nothing is selected; give --call, --session, --agent, --kind, {}", more));
}

Result<Target> target_from(const std::string& text) {
  Target target{.text = text};
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    SALLYPORT_TRY(target.sequence, count_from(text, "sequence"));
    return target;
  }
  SALLYPORT_CHECK_OK(id_from(text, {"ID"}));
  if (!has_uuid_shape(text)) return target;
  std::ranges::transform(target.text, target.text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!parse_uuid(target.text))
    return usage(fmt::format("`{}` is not an id: a digit is wrong", text));
  target.id = target.text;
  return target;
}

Result<std::optional<ledger::StoredEntry>> find_target(ledger::ReadView& view,
                                                       const Target& target) {
  std::optional<ledger::StoredEntry> found;
  if (target.sequence) {
    SALLYPORT_TRY(found, view.entry(*target.sequence));
    if (found) SALLYPORT_CHECK_OK(ledger::check_leaf(*found));
    return found;
  }
  if (!target.id) return found;
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, {.id = target.id, .limit = 1},
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        found = stored;
        return false;
      }));
  return found;
}

Error nothing_found(const FilterOptions& options) {
  if (options.call && !parse_uuid(*options.call)) {
    return {ErrorCode::InvalidInput,
            fmt::format("--call `{}` is not an id of a call; copy one from `sallyport ledger tail`",
                        options.call->substr(0, 80))};
  }
  return {ErrorCode::NotFound, "no entry matches; leave a filter out to see more"};
}

Error nothing_found(const Target& target) {
  const std::string name = target.text.substr(0, 80);
  if (target.sequence) {
    return {ErrorCode::NotFound,
            fmt::format("entry {} is none of those; leave a filter out to see it", name)};
  }
  if (target.id) {
    return {
        ErrorCode::NotFound,
        fmt::format("no entry and no call `{}` matches; `sallyport ledger tail` shows some", name)};
  }
  return {ErrorCode::InvalidInput,
          fmt::format("`{}` is neither a sequence nor the id of an entry or a call; copy one from "
                      "`sallyport ledger tail`",
                      name)};
}

Result<ledger::VerifierKey> key_from(const std::string& text) {
  if (Result<ledger::VerifierKey> key = ledger::VerifierKey::parse(trimmed(text)); key) return key;
  constexpr std::size_t kMaxKeyFile = 64 * 1024;
  const Result<std::string> content = read_input(text, kMaxKeyFile);
  if (!content) {
    return usage(
        fmt::format("--key `{}` is neither a verifier key (name+hhhhhhhh+base64) nor a "
                    "file that holds one",
                    text.substr(0, 200)));
  }
  Result<ledger::VerifierKey> key = ledger::VerifierKey::parse(trimmed(*content));
  if (key) return key;
  return fail(ErrorCode::InvalidInput, fmt::format("no verifier key: {}", key.error().message),
              text);
}

Result<void> check_reason(const std::string& reason) {
  if (trimmed(reason).empty()) {
    return usage("--reason is empty; say why, it becomes part of the record");
  }
  if (!check_json(json::value(reason))) return usage("--reason is not valid UTF-8");
  return {};
}

}  // namespace sallyport::app
