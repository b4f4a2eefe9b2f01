// Scopes of autonomy: a program narrows what its agent may do by itself while a piece of work
// lasts. A sub-agent starts with the scopes of its parent.
#include <sallyport/engine.h>

#include <iostream>

using namespace sallyport;

namespace {

void write(Engine& engine, const std::string& who, const AutonomyScopes& scopes) {
  const Result<Answer> answer = engine.call({.agent_id = who,
                                             .session_id = "session-1",
                                             .tool = "write",
                                             .input = {{"text", "hello"}},
                                             .scopes = scopes},
                                            {.hold = false});
  const auto records = engine.record_json({.agent_id = who});
  if (!answer || !records || records->empty()) return;
  const json::object& record = records->back();
  std::cout << who << ": " << to_string(answer->outcome.kind) << ", "
            << record.at("autonomy").as_string().c_str() << " by "
            << record.at("autonomy_source").as_string().c_str() << '\n';
}

}  // namespace

int main() {
  const auto engine =
      EngineBuilder("")
          .tool({.name = "write",
                 .classification = {Tier::Confirm, "store.write"},
                 .run = [](const Invocation&) -> Result<json::value> { return "written"; }})
          .autonomy(Autonomy::ActAuto)
          .open();
  if (!engine) return 1;

  AutonomyScopes scopes;
  write(**engine, "agent:before", scopes);
  {
    const auto asks = scopes.push({{"tier", "act_with_approval"}, {"deadline_s", 60}});
    if (!asks) return 1;
    write(**engine, "agent:inside", scopes);
    AutonomyScopes of_sub_agent = scopes;
    const auto more = of_sub_agent.push({{"tier", "act_auto"}});  // asks for more than there is
    if (!more) return 1;
    write(**engine, "agent:sub", of_sub_agent);
  }
  write(**engine, "agent:after", scopes);
  return 0;
}
