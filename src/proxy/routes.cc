#include "proxy/routes.h"

#include <array>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport::proxy {

namespace {

using llm::Api;
using llm::RequestKind;

struct Posted {
  std::string_view path;
  Route::Kind kind;
  Api api;
  RequestKind request;
};

constexpr std::array<Posted, 7> kPosted{{
    {"/v1/messages", Route::Kind::Generate, Api::AnthropicMessages, RequestKind::Messages},
    {"/v1/messages/count_tokens", Route::Kind::Count, Api::AnthropicMessages,
     RequestKind::CountTokens},
    {"/v1/chat/completions", Route::Kind::Generate, Api::OpenAiChat, RequestKind::Chat},
    {"/v1/responses", Route::Kind::Generate, Api::OpenAiResponses, RequestKind::Responses},
    {"/v1/responses/input_tokens", Route::Kind::Count, Api::OpenAiResponses,
     RequestKind::InputTokens},
    {"/v1/responses/compact", Route::Kind::Spend, Api::OpenAiResponses, RequestKind::Compact},
    {"/v1/embeddings", Route::Kind::Spend, Api::OpenAiChat, RequestKind::Embeddings},
}};

constexpr std::string_view kResponses = "/v1/responses/";
constexpr std::string_view kModels = "/v1/models";

bool is_id(std::string_view text) {
  return !text.empty() && text.find('/') == std::string_view::npos;
}

// `/v1/responses/{id}` and paths below it; no value: another path.
std::optional<Route> stored_route(const net::ServerRequest& request) {
  const std::string_view path = request.path;
  if (!path.starts_with(kResponses)) return std::nullopt;
  std::string_view id = path.substr(kResponses.size());
  const std::size_t slash = id.find('/');
  const std::string_view below = slash == std::string_view::npos ? "" : id.substr(slash);
  id = id.substr(0, slash);
  const std::string& method = request.method;
  const bool served = (below.empty() && (method == "GET" || method == "DELETE")) ||
                      (below == "/cancel" && method == "POST") ||
                      (below == "/input_items" && method == "GET");
  if (!is_id(id) || !served) return std::nullopt;
  return Route{.kind = Route::Kind::Stored,
               .api = Api::OpenAiResponses,
               .request = RequestKind::Responses,
               .name = std::string("/v1/responses/{id}").append(below),
               .id = std::string(id)};
}

std::optional<Route> models_route(const net::ServerRequest& request) {
  const std::string_view path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads || !path.starts_with(kModels)) return std::nullopt;
  Route route{.kind = Route::Kind::Models, .api = api_of(request), .name = std::string(kModels)};
  if (path.size() == kModels.size()) return route;
  const std::string_view id = path.substr(kModels.size() + 1);
  // Model names may have a slash, for example on self-hosted servers.
  if (path[kModels.size()] != '/' || id.empty()) return std::nullopt;
  route.name += "/{id}";
  // Clients escape the slash.
  const auto decoded = percent_decoded(id);
  route.id = decoded && is_utf8(*decoded) ? *decoded : std::string(id);
  if (!is_utf8(route.id)) return std::nullopt;  // no model has such a name
  return route;
}

}  // namespace

Api api_of(const net::ServerRequest& request) {
  const std::string_view path = request.path;
  if (path.starts_with("/v1/messages") || request.count("anthropic-version") > 0) {
    return Api::AnthropicMessages;
  }
  return path.starts_with("/v1/responses") ? Api::OpenAiResponses : Api::OpenAiChat;
}

Route route_of(const net::ServerRequest& request) {
  if (request.method == "POST") {
    for (const Posted& posted : kPosted) {
      if (posted.path != request.path) continue;
      return {.kind = posted.kind,
              .api = posted.api,
              .request = posted.request,
              .name = std::string(posted.path)};
    }
  }
  if (std::optional<Route> stored = stored_route(request)) return std::move(*stored);
  if (std::optional<Route> models = models_route(request)) return std::move(*models);
  return {.api = api_of(request), .name = "other"};
}

}  // namespace sallyport::proxy
