// A program whose tools run under Sallyport: one is a lookup, one has an effect, one call is
// denied. Afterwards it reads its own records back and takes a receipt.
#include <sallyport/engine.h>

#include <boost/json.hpp>
#include <iostream>
#include <map>

using namespace sallyport;

namespace {

using Accounts = std::map<std::string, std::int64_t>;

Tool look_up(Accounts& accounts) {
  Tool tool{.name = "balance", .classification = {Tier::Observe, "none"}};
  tool.run = [&](const Invocation& invocation) -> Result<json::value> {
    const std::string who(invocation.call().input.at("who").as_string());
    const auto found = accounts.find(who);
    if (found == accounts.end()) return fail(ErrorCode::NotFound, "no account of " + who);
    return json::value(found->second);
  };
  return tool;
}

Tool transfer(Accounts& accounts) {
  Tool tool{.name = "transfer", .classification = {Tier::Confirm, "store.write"}};
  tool.run = [&](const Invocation& invocation) -> Result<json::value> {
    const json::value& input = invocation.call().input;
    const std::int64_t amount = input.at("amount").as_int64();
    accounts[std::string(input.at("from").as_string())] -= amount;
    accounts[std::string(input.at("to").as_string())] += amount;
    return json::value("done");
  };
  return tool;
}

Result<Verdict> ceiling(const Call& call, const GuardView&) {
  if (call.tool != "transfer") return Verdict::allow();
  if (call.input.at("amount").as_int64() <= 50) return Verdict::allow();
  return Verdict::deny("more than 50 at once", "ceiling.50");
}

void ask(Engine& engine, std::string id, std::string tool, json::value input) {
  const Result<Answer> answer = engine.call({.tool_call_id = std::move(id),
                                             .agent_id = "agent:example",
                                             .session_id = "session-1",
                                             .tool = std::move(tool),
                                             .input = std::move(input)});
  std::cout << (answer ? answer->result.output : answer.error().message) << '\n';
}

bool show_records(Engine& engine) {
  const auto records = engine.records({.session_id = "session-1"});
  if (!records || records->empty()) return false;
  for (const AuditRecord& record : *records) {
    std::cout << record.tool_call_id << ' ' << record.tool_name << ": "
              << to_string(record.outcome.kind) << '\n';
  }
  const auto receipt = engine.receipt(records->back().sequence);
  if (receipt) std::cout << "receipt for " << engine.verifier_key().substr(0, 16) << "...\n";
  return receipt.has_value();
}

}  // namespace

int main(int count, char** arguments) {
  Accounts accounts = {{"ada", 100}, {"grace", 20}};
  const auto engine = EngineBuilder(count > 1 ? arguments[1] : "")
                          .tool(look_up(accounts))
                          .tool(transfer(accounts))
                          .guard("ceiling", ceiling)
                          .autonomy(Autonomy::ActAuto)
                          .open();
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }
  const json::value thirty = {{"from", "ada"}, {"to", "grace"}, {"amount", 30}};
  ask(**engine, "1", "balance", {{"who", "ada"}});
  ask(**engine, "2", "transfer", thirty);
  ask(**engine, "2", "transfer", thirty);  // answered, not repeated
  ask(**engine, "3", "transfer", {{"from", "ada"}, {"to", "grace"}, {"amount", 70}});
  ask(**engine, "4", "balance", {{"who", "ada"}});
  return show_records(**engine) ? 0 : 1;
}
