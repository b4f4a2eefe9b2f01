// A program whose tools run under Sallyport: one is a lookup, one has an effect, one call is
// denied. Afterwards it reads its own records back and checks a receipt is there.
#include <sallyport/engine.h>

#include <boost/json.hpp>
#include <iostream>
#include <map>

using namespace sallyport;

int main(int count, char** arguments) {
  std::map<std::string, std::int64_t> balance = {{"ada", 100}, {"grace", 20}};

  Tool look_up{.name = "balance", .classification = {Tier::Observe, "none"}};
  look_up.run = [&](const Invocation& invocation) -> Result<json::value> {
    const std::string who(invocation.call().input.at("who").as_string());
    const auto found = balance.find(who);
    if (found == balance.end()) return fail(ErrorCode::NotFound, "no account of " + who);
    return json::value(found->second);
  };

  Tool transfer{.name = "transfer", .classification = {Tier::Confirm, "store.write"}};
  transfer.run = [&](const Invocation& invocation) -> Result<json::value> {
    const json::value& input = invocation.call().input;
    const std::int64_t amount = input.at("amount").as_int64();
    balance[std::string(input.at("from").as_string())] -= amount;
    balance[std::string(input.at("to").as_string())] += amount;
    return json::value("done");
  };

  auto engine = EngineBuilder(count > 1 ? arguments[1] : "")
                    .tool(look_up)
                    .tool(transfer)
                    .guard("ceiling",
                           [](const Call& call, const GuardView&) -> Result<Verdict> {
                             if (call.tool != "transfer") return Verdict::allow();
                             if (call.input.at("amount").as_int64() <= 50) return Verdict::allow();
                             return Verdict::deny("more than 50 at once", "ceiling.50");
                           })
                    .autonomy(Autonomy::ActAuto)
                    .open();
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }

  const auto ask = [&](std::string id, std::string tool, json::value input) {
    const Result<Answer> answer = (*engine)->call({.tool_call_id = std::move(id),
                                                   .agent_id = "agent:example",
                                                   .session_id = "session-1",
                                                   .tool = std::move(tool),
                                                   .input = std::move(input)});
    std::cout << (answer ? answer->result.output : answer.error().message) << '\n';
  };
  ask("1", "balance", {{"who", "ada"}});
  ask("2", "transfer", {{"from", "ada"}, {"to", "grace"}, {"amount", 30}});
  ask("2", "transfer",
      {{"from", "ada"}, {"to", "grace"}, {"amount", 30}});  // answered, not repeated
  ask("3", "transfer", {{"from", "ada"}, {"to", "grace"}, {"amount", 70}});
  ask("4", "balance", {{"who", "ada"}});

  const auto records = (*engine)->records({.session_id = "session-1"});
  if (!records) return 1;
  for (const AuditRecord& record : *records) {
    std::cout << record.tool_call_id << ' ' << record.tool_name << ": "
              << to_string(record.outcome.kind) << '\n';
  }
  const auto receipt = (*engine)->receipt(records->back().sequence);
  std::cout << (receipt ? "receipt for " + (*engine)->verifier_key().substr(0, 16) : "no receipt")
            << "...\n";
  return receipt ? 0 : 1;
}
