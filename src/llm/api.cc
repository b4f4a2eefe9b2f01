#include "llm/api.h"

#include <array>
#include <boost/json.hpp>

#include "base/visible_text.h"
#include "sallyport/json.h"

namespace sallyport::llm {

namespace {

constexpr std::array<std::string_view, 3> kApis{"anthropic_messages", "openai_chat",
                                                "openai_responses"};

std::string_view anthropic_type(unsigned status) {
  switch (status) {
    case 400:
    case 415:
    case 426:
      return "invalid_request_error";
    case 401:
      return "authentication_error";
    case 402:
      return "billing_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

std::string_view openai_type(unsigned status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 402:
      return "insufficient_quota";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

}  // namespace

std::string_view to_string(Api api) {
  return kApis.at(static_cast<std::size_t>(api));
}

std::string_view error_type(Api api, unsigned status) {
  return api == Api::AnthropicMessages ? anthropic_type(status) : openai_type(status);
}

std::string error_body(Api api, const ApiError& error) {
  const std::string_view type = error_type(api, error.status);
  const std::string message = is_utf8(error.message) ? error.message : visible(error.message);
  if (api == Api::AnthropicMessages) {
    return json::serialize(json::object{{"type", "error"},
                                        {"error", {{"type", type}, {"message", message}}},
                                        {"request_id", error.request_id}});
  }
  json::value code;
  if (!error.code.empty()) code = error.code;
  return json::serialize(json::object{
      {"error",
       {{"message", message}, {"type", type}, {"param", nullptr}, {"code", std::move(code)}}}});
}

}  // namespace sallyport::llm
