// Changes of requests to OpenAI Responses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llm/json_splice.h"
#include "llm/request.h"
#include "sallyport/json.h"

namespace sallyport::llm {

// `withhold` for the requests of this API (MP-30).
void withhold_responses(Splice& splice, const ToolReturn& result, std::string_view notice,
                        const json::value& body);

// A call that the provider keeps and the client never received.
struct UnansweredCall {
  std::string type{};  // type of its item; empty: `function_call`
  std::string id{};    // as `ProposedCall::id`
  std::string text{};  // the refusal
};
// Adds a result for each of these calls to the `input` of a request (MP-64).
void answer_calls(Splice& splice, const std::vector<UnansweredCall>& calls,
                  const json::value& body);

}  // namespace sallyport::llm
