#include "hook/dialect.h"

#include <boost/json.hpp>

#include "hook/damaged_event.h"
#include "hook/dialects.h"

namespace sallyport::hook {

namespace {

std::span<const Dialect* const> all() {
  static const Dialect* const kAll[] = {&claude_code(), &codex(), &gemini(), &cursor(), &copilot()};
  return kAll;
}

// The tools of a host have its name as their server, and many run without approval. A server with
// the name of a host is renamed, so that its tools do not count as the host's.
void rename_host_like_servers(Event& event) {
  if (dialect_named(event.server) != nullptr) event.server.insert(0, "mcp__");
  for (Event& call : event.calls) rename_host_like_servers(call);
}

}  // namespace

Result<void> read_event(const Dialect& dialect, std::string_view text, Event& event) {
  const Result<ParsedJson> parsed = parse_json(text, kEventLimits);
  if (!parsed) {
    (void)dialect.read(readable_part(text), event);
    const std::string& place = parsed.error().where;
    return fail(ErrorCode::InvalidInput, parsed.error().message,
                place.empty() ? "stdin" : "stdin:" + place);
  }
  const json::object* const object = parsed->value.if_object();
  if (object == nullptr) {
    return fail(ErrorCode::InvalidInput, "the event is no JSON object", "stdin");
  }
  Result<void> read = dialect.read(*object, event);
  rename_host_like_servers(event);
  return read;
}

const Dialect* dialect_named(std::string_view name) {
  for (const Dialect* const dialect : all()) {
    if (dialect->name() == name) return dialect;
  }
  return nullptr;
}

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const Dialect* const dialect : all()) names.emplace_back(dialect->name());
  return names;
}

}  // namespace sallyport::hook
