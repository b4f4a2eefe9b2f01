// JSON Schemas of what people write, for their editors.
#include "app/agents/agent_config.h"
#include "cli/command.h"
#include "guardrails/document/schema.h"
#include "policy/policy.h"
#include "records/entry_text.h"
#include "terminal/output.h"
#include "workspace/config/config.h"

namespace sallyport::app {

namespace {

struct PolicySchemaOptions {
  std::string of = "policy";  // which document
};

Result<int> policy_schema(const Context& context, const PolicySchemaOptions& options) {
  const json::value schema = options.of == "guardrails" ? guardrails::document_schema()
                             : options.of == "config"   ? config_schema()
                             : options.of == "agent"    ? agent_config_schema()
                                                        : policy::policy_schema();
  print_line(context.json() ? canonical_json(schema) : pretty_json(schema, 0));
  return 0;
}

const Command kPolicySchema("policy schema", "print the JSON Schema of a document", policy_schema,
                            [](Syntax& syntax, PolicySchemaOptions& options) {
                              syntax.text("document", options.of, "kind of document [policy]")
                                  .choices({"policy", "guardrails", "config", "agent"});
                            });

}  // namespace

}  // namespace sallyport::app
