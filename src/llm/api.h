// The model APIs that we speak, and how each of them words errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::llm {

enum class Api : std::uint8_t { AnthropicMessages, OpenAiChat, OpenAiResponses };

// `anthropic_messages`, `openai_chat`, `openai_responses`: as configuration and records say.
std::string_view to_string(Api api);
std::optional<Api> api_from(std::string_view word);

// An error in the shape of an API.
struct ApiError {
  unsigned status = 500;
  std::string message{};
  std::string code{};        // ours, such as `not_served`; Anthropic's shape has no place for it
  std::string request_id{};  // Anthropic's shape has it
};

// The `error.type` that this API uses for a status: `permission_error`, `insufficient_quota`, ...
std::string_view error_type(Api api, unsigned status);
// The body of a response that refuses, before its first byte has left.
std::string error_body(Api api, const ApiError& error);

}  // namespace sallyport::llm
