// The meaning of a path (MP-1).
#pragma once

#include <string>
#include <string_view>

#include "llm/api.h"
#include "llm/request.h"
#include "net/server_request.h"

namespace sallyport::proxy {

struct Route {
  enum class Kind : std::uint8_t {
    Generate,   // all stages, tool calls, budgets
    Count,      // `input` and `tool_output` alone: token counts
    Spend,      // the same with budgets: embeddings, compaction
    Stored,     // a response that the provider keeps: read, deleted, cancelled, its items
    Models,     // answered here
    Elsewhere,  // only where `pass_through` of an upstream names it
  };

  Kind kind = Kind::Elsewhere;
  llm::Api api = llm::Api::OpenAiChat;
  llm::RequestKind request = llm::RequestKind::Chat;
  std::string name{};  // for records and metrics: the path without ids
  std::string id{};    // of a stored response, or of a model

  bool generates() const { return kind == Kind::Generate; }
  bool spends() const { return kind == Kind::Generate || kind == Kind::Spend; }
  bool has_body() const { return generates() || kind == Kind::Count || kind == Kind::Spend; }
  // The operation name in OpenTelemetry; empty: it has none.
  std::string_view operation() const {
    if (generates()) return "chat";
    return request == llm::RequestKind::Embeddings && has_body() ? "embeddings" : "";
  }
};

// Matches by method and path only. Everything that is not served is `Elsewhere`.
Route route_of(const net::ServerRequest& request);

// The API that determines the shape of errors for this path.
llm::Api api_of(const net::ServerRequest& request);

}  // namespace sallyport::proxy
