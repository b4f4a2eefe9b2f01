#include "guardrails/document/document_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include "base/try.h"
#include "guardrails/document/argument_path.h"
#include "guardrails/document/document_names.h"
#include "guardrails/document/one_line.h"
#include "match/expression.h"
#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

using Done = std::expected<void, DocumentError>;

// A check and its place in the document.
struct Subject {
  const Document& document;
  const json::object& given;
  std::size_t index;

  const Check& check() const { return document.checks[index]; }
  std::string path(std::string_view key) const { return fmt::format("/checks/{}/{}", index, key); }

  std::unexpected<DocumentError> refuse(std::string code, std::string path,
                                        std::string_view what) const {
    return std::unexpected(
        DocumentError{.code = std::move(code),
                      .message = fmt::format("check '{}': {}", check().label, what),
                      .check = check().label,
                      .check_index = index,
                      .path = std::move(path)});
  }
};

// Why an id is invalid; no value: it is valid.
std::optional<std::string> fault_of_id(std::string_view id) {
  if (id.empty()) return "is empty";
  std::size_t characters = 0;
  while (!id.empty()) {
    const match::Decoded next = match::decode_first(id);
    const char32_t c = next.character;
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return "has a control character";
    id.remove_prefix(next.size);
    ++characters;
  }
  if (characters <= kMostIdCharacters) return std::nullopt;
  return fmt::format("has {} characters, the limit is {}", characters, kMostIdCharacters);
}

Done check_id(const Subject& subject) {
  const std::optional<std::string>& id = subject.check().id;
  const std::optional<std::string> fault = id ? fault_of_id(*id) : std::nullopt;
  if (!fault) return {};
  return std::unexpected(
      DocumentError{.code = "bad_id",
                    .message = fmt::format("check #{}: the id {}", subject.index, *fault),
                    .check_index = subject.index,
                    .path = subject.path("id")});
}

// The label of a check without an id is fixed, so a check that has the same text as its id must
// give way, whichever of the two comes first.
Done check_label(const Subject& subject) {
  const std::vector<Check>& checks = subject.document.checks;
  if (!subject.check().id) return {};
  for (std::size_t other = 0; other < checks.size(); ++other) {
    const bool counts = other < subject.index || (other > subject.index && !checks[other].id);
    if (!counts || checks[other].label != *subject.check().id) continue;
    return subject.refuse("duplicate_id", subject.path("id"),
                          fmt::format("check #{} is already called that", other));
  }
  return {};
}

Done check_replacement(const Subject& subject) {
  const std::optional<std::string>& replacement = subject.check().replacement;
  if (!replacement || replacement->size() <= kMostReplacementBytes) return {};
  return subject.refuse("replacement_too_long", subject.path("replacement"),
                        fmt::format("the replacement has {} bytes, the limit is {}",
                                    replacement->size(), kMostReplacementBytes));
}

// The right place of a misplaced key or value; no value: it is not misplaced.
std::optional<std::string_view> belongs_elsewhere(const Subject& subject, std::string_view key) {
  const Check& check = subject.check();
  const bool tool_pattern = check.type == CheckType::ToolPattern;
  const bool tool_stage = check.stage == Stage::ToolUse || check.stage == Stage::ToolOutput;
  if (key == "stage" && tool_pattern && check.stage != Stage::ToolUse) {
    return "a tool_pattern is allowed only on stage tool_use";
  }
  if (key == "on_fail" && tool_pattern && check.on_fail == Action::Redact) {
    return "a tool_pattern cannot redact";
  }
  if ((key == "patterns" || key == "unicode") && check.type != CheckType::Regex) {
    return "only for type regex";
  }
  if ((key == "words" || key == "case_sensitive" || key == "whole_word") &&
      check.type != CheckType::Blocklist) {
    return "only for type blocklist";
  }
  if (key == "tools" && !tool_pattern && !tool_stage) {
    return "only on stages tool_use and tool_output";
  }
  if (key == "args" && (tool_pattern || check.stage != Stage::ToolUse)) {
    return "only for types regex and blocklist on stage tool_use";
  }
  if (key == "views" && tool_pattern) return "only for types regex and blocklist";
  if (key == "decode_depth" && !subject.given.contains("views")) return "only together with views";
  return std::nullopt;
}

Done check_keys(const Subject& subject) {
  for (const json::key_value_pair& member : subject.given) {
    const auto why = belongs_elsewhere(subject, member.key());
    if (!why) continue;
    return subject.refuse(
        "not_allowed_here", subject.path(member.key()),
        fmt::format("`{}` is not allowed here: {}", std::string_view(member.key()), *why));
  }
  return {};
}

Done check_list(const Subject& subject, std::string_view name) {
  const json::value* const list = subject.given.if_contains(name);
  if (list == nullptr) return {};
  const json::array& entries = list->get_array();
  const std::string path = subject.path(name);
  if (entries.empty()) {
    return subject.refuse("empty_list", path, fmt::format("`{}` is empty", name));
  }
  if (entries.size() > kMostEntries) {
    return subject.refuse(
        "too_many_entries", path,
        fmt::format("`{}` has {} entries, the limit is {}", name, entries.size(), kMostEntries));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t bytes = entries[i].get_string().size();
    if (bytes > 0 && bytes <= kMostEntryBytes) continue;
    const std::string entry = fmt::format("{}/{}", path, i);
    if (bytes == 0) {
      return subject.refuse("empty_entry", entry,
                            fmt::format("entry {} of `{}` is empty", i, name));
    }
    return subject.refuse("entry_too_long", entry,
                          fmt::format("entry {} of `{}` has {} bytes, the limit is {}", i, name,
                                      bytes, kMostEntryBytes));
  }
  return {};
}

Done check_lists(const Subject& subject) {
  const std::string_view own = own_list(subject.check().type);
  SALLYPORT_CHECK_OK(check_list(subject, own));
  for (const std::string_view name : {"tools", "args", "except", "views"}) {
    if (name != own) {
      SALLYPORT_CHECK_OK(check_list(subject, name));
    }
  }
  return {};
}

Done check_paths(const Subject& subject) {
  const std::vector<std::string>& args = subject.check().args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (ArgumentPath::read(args[i])) continue;
    return subject.refuse("bad_path", subject.path(fmt::format("args/{}", i)),
                          fmt::format("`{}` is not a path; write a JSON Pointer like "
                                      "`/items/*/sql`",
                                      in_one_line(args[i])));
  }
  return {};
}

// Step 11 for one check. The compiler does this too, but it never sees the check if a later one is
// already refused.
Done check_patterns(const Subject& subject) {
  const Check& check = subject.check();
  if (check.type != CheckType::Regex) return {};
  const auto readable = [&](const std::vector<std::string>& patterns,
                            std::string_view key) -> Done {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const auto parsed = match::parse({.text = patterns[i], .unicode = check.unicode});
      if (parsed) continue;
      auto refused = subject.refuse("invalid_regex", subject.path(fmt::format("{}/{}", key, i)),
                                    in_one_line(parsed.error().message));
      refused.error().detail = parsed.error().cause;
      return refused;
    }
    return {};
  };
  SALLYPORT_CHECK_OK(readable(check.entries, "patterns"));
  return readable(check.except, "except");
}

Done check_one(const Subject& subject) {
  SALLYPORT_CHECK_OK(check_id(subject));
  SALLYPORT_CHECK_OK(check_label(subject));
  SALLYPORT_CHECK_OK(check_replacement(subject));
  SALLYPORT_CHECK_OK(check_keys(subject));
  SALLYPORT_CHECK_OK(check_lists(subject));
  return check_paths(subject);
}

}  // namespace

Done check_rules(const Document& document, const json::value& given) {
  const std::size_t count = document.checks.size();
  if (count > kMostChecks) {
    return std::unexpected(
        DocumentError{.code = "too_many_checks",
                      .message = fmt::format("{} checks, the limit is {}", count, kMostChecks),
                      .path = "/checks"});
  }
  const auto subject = [&](std::size_t index) {
    return Subject{document, given.at("checks").at(index).get_object(), index};
  };
  for (std::size_t index = 0; index < count; ++index) {
    const Done done = check_one(subject(index));
    if (done) continue;
    for (std::size_t before = 0; before < index; ++before) {
      SALLYPORT_CHECK_OK(check_patterns(subject(before)));
    }
    return done;
  }
  return {};
}

}  // namespace sallyport::guardrails
