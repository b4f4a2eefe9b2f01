// A hook that adds rows: each refused call becomes an event on a topic of the program, written
// together with the call.
#include <sallyport/engine.h>

#include <iostream>

using namespace sallyport;

namespace {

Result<std::vector<TopicEvent>> note_refusals(const Event& event, const Subject& subject) {
  const auto* const denied = std::get_if<event::PolicyDenied>(&event);
  if (denied == nullptr) return std::vector<TopicEvent>{};
  TopicEvent row{.topic = "refusals", .kind = "refused"};
  row.payload = {{"tool", denied->tool_name}, {"session", subject.session_id}};
  return std::vector<TopicEvent>{row};
}

}  // namespace

int main() {
  const auto engine = EngineBuilder("").row_hook("refusals", note_refusals).open();
  if (!engine) return 1;
  (void)(*engine)->call({.agent_id = "agent:a", .session_id = "s-1", .tool = "nothing"});
  const auto page = (*engine)->read_topic("refusals");
  if (!page) return 1;
  for (const StoredEvent& event : page->events) {
    std::cout << event.kind << ": " << event.payload.at("tool").as_string().c_str() << " in "
              << event.payload.at("session").as_string().c_str() << '\n';
  }
  return 0;
}
