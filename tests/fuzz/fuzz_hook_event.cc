// Events of coding agents in every dialect are refused or understood. The answer to every decision
// is one object or no output. A denial never reads as an allowance.
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "hook/dialect.h"

namespace {

using namespace sallyport;
using namespace sallyport::hook;

void check_event(const Event& event) {
  using enum Event::Kind;
  if (event.kind == Other) return;
  const bool call = event.kind == Before || event.kind == After || event.kind == Permission;
  SALLYPORT_INVARIANT(!call || (!event.tool.empty() && !event.session_id.empty()));
  SALLYPORT_INVARIANT(event.calls.empty() || event.kind == Batch);
  for (const Event& one : event.calls) {
    SALLYPORT_INVARIANT(one.kind == After && !one.replaceable && one.calls.empty());
  }
}

// An input is never a text that its host could parse as an object (`{`): no rule would see its
// members.
void check_input(const Event& event) {
  if (event.kind != Event::Kind::Before || !event.input.is_string()) return;
  const Result<ParsedJson> parsed = parse_json(std::string_view(event.input.get_string()));
  SALLYPORT_INVARIANT(!parsed || !parsed->value.is_object());
}

void check_words(const Dialect& dialect, const Event& event, const Decision& decision,
                 const Setting& setting) {
  const std::string said = dialect.write(event, decision, setting);
  if (said.empty()) return;
  // The output is at most a few levels deeper than the input.
  const Result<ParsedJson> parsed = parse_json(said, {.depth = 200});
  SALLYPORT_INVARIANT(parsed && parsed->value.is_object());
}

void check_denial(const Dialect& dialect, const Event& event) {
  if (event.kind != Event::Kind::Before) return;
  const std::string said = dialect.write(event, Decision::deny("no"), {});
  SALLYPORT_INVARIANT(said.find("\"deny\"") != std::string::npos);
  SALLYPORT_INVARIANT(said.find("allow") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& name : dialect_names()) {
    const Dialect& dialect = *dialect_named(name);
    Event event;
    if (read_event(dialect, text, event)) {
      check_event(event);
      if (name == "copilot" || name == "cursor") check_input(event);
    }
    check_denial(dialect, event);
    for (int kind = 0; kind <= static_cast<int>(Decision::Kind::Withhold); ++kind) {
      const Decision decision{static_cast<Decision::Kind>(kind), "no", event.output};
      for (const bool interactive : {true, false}) {
        check_words(dialect, event, decision, {.interactive = interactive});
      }
    }
  }
  return 0;
}
