// A hook that decides before a tool runs, one that rewrites what it is given, and a guard that
// takes something out of results; with listeners for events and records.
#include <sallyport/engine.h>

#include <boost/json.hpp>
#include <iostream>
#include <string>

using namespace sallyport;

namespace {

// Sees the real input, as JSON text, and says allow, deny or modify.
Result<PreHookDecision> no_deletion(const PreHookContext& context) {
  if (context.input_json.find("DROP TABLE") == std::string::npos) return PreHookDecision::allow();
  return PreHookDecision::deny("tables are not dropped from here");
}

Result<PreHookDecision> add_limit(const PreHookContext& context) {
  json::value input = json::parse(context.input_json);
  std::string sql(input.at("sql").as_string());
  if (sql.find("LIMIT") != std::string::npos) return PreHookDecision::allow();
  input.as_object()["sql"] = sql + " LIMIT 10";
  return PreHookDecision::modify(json::serialize(input), "every query has a limit");
}

// A redactor of our own: names of customers are cut to their first letter.
Result<Verdict> shorten_names(const Envelope& result, const ResultContext&) {
  if (result.kind != Envelope::Kind::Value || !result.value.is_array()) return Verdict::allow();
  Envelope changed = result;
  for (json::value& row : changed.value.as_array()) {
    json::string& name = row.as_object()["name"].as_string();
    name.resize(1);
    name += '.';
  }
  return Verdict::rewrite(changed.to_json(), "names shortened");
}

Result<json::value> run_query(const Invocation& invocation) {
  std::cout << "  runs: " << invocation.call().input.at("sql").as_string().c_str() << '\n';
  return json::value(json::array{json::object{{"name", "Ada"}, {"key", "AKIAIOSFODNN7EXAMPLE"}},
                                 json::object{{"name", "Grace"}, {"key", "none"}}});
}

}  // namespace

int main() {
  auto engine =
      EngineBuilder("")
          .tool({.name = "query", .classification = {Tier::Observe, "none"}, .run = run_query})
          .pre_hook("no-deletion", no_deletion)
          .rewriting_hook("add-limit", add_limit)
          .result_guard("shorten-names", shorten_names)
          .output_sanitizer()
          .hook("console",
                [](const Event& event, const Subject&) -> Result<void> {
                  std::cout << "  event: " << event_type(event) << '\n';
                  return {};
                })
          .sink("console",
                [](const AuditRecord& record) -> Result<void> {
                  std::cout << "  record: " << to_string(record.outcome.kind) << '\n';
                  return {};
                })
          .open();
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }
  for (const char* const sql : {"SELECT name, key FROM customers", "DROP TABLE customers"}) {
    std::cout << sql << '\n';
    const Result<Answer> answer = (*engine)->call(
        {.agent_id = "agent:example", .session_id = "s", .tool = "query", .input = {{"sql", sql}}});
    std::cout << "  agent sees: " << (answer ? answer->result.output : answer.error().message)
              << '\n';
  }
  return 0;
}
