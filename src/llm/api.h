// The supported model APIs and the form of their errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport::llm {

enum class Api : std::uint8_t { AnthropicMessages, OpenAiChat, OpenAiResponses };

// `anthropic_messages`, `openai_chat` or `openai_responses`, as in configuration and records.
std::string_view to_string(Api api);

// An error in the shape of an API.
struct ApiError {
  unsigned status = 500;
  std::string message{};
  std::string code{};        // our code, such as `not_served`; not in Anthropic's shape
  std::string request_id{};  // only in Anthropic's shape
};

// The `error.type` that this API uses for a status: `permission_error`, `insufficient_quota`, ...
std::string_view error_type(Api api, unsigned status);
// The body of a response that refuses a request.
std::string error_body(Api api, const ApiError& error);

}  // namespace sallyport::llm
