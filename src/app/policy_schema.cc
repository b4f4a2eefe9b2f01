// JSON Schemas of what people write, for their editors.
#include "app/agent_config.h"
#include "app/config.h"
#include "app/entry_text.h"
#include "app/output.h"
#include "app/policy_commands.h"
#include "guardrails/schema.h"
#include "policy/policy.h"

namespace sallyport::app {

Result<int> policy_schema(const Context& context, const PolicySchemaOptions& options) {
  const json::value schema = options.of == "guardrails" ? guardrails::document_schema()
                             : options.of == "config"   ? config_schema()
                             : options.of == "agent"    ? agent_config_schema()
                                                        : policy::policy_schema();
  say(context.json() ? canonical_json(schema) : pretty_json(schema, 0));
  return 0;
}

}  // namespace sallyport::app
