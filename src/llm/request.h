// The parts of a model request that the proxy looks at: texts to check, tool results, tools that
// the provider runs, and state that the provider keeps. Paths are JSON Pointers into the body.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/api.h"
#include "llm/json_splice.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::llm {

// The kind of the body (MP-1).
enum class RequestKind : std::uint8_t {
  Messages,     // /v1/messages
  CountTokens,  // /v1/messages/count_tokens
  Chat,         // /v1/chat/completions
  Responses,    // /v1/responses
  InputTokens,  // /v1/responses/input_tokens
  Compact,      // /v1/responses/compact
  Embeddings,   // /v1/embeddings
};

// One string of the body that is checked (MP-27).
struct Leaf {
  enum class Kind : std::uint8_t {
    Input,       // stage `input`, redacted in place
    ToolOutput,  // stage `tool_output`, redacted in place
    Fixed,       // stage `input`, and a redaction acts as block
  };
  std::string path{};
  std::string text{};
  Kind kind = Kind::Input;
  std::string tool_call_id{};  // set for ToolOutput
  std::string tool{};          // tool name, if the request has the call (MP-31)
};

// A part that no check can read: opaque bytes, media, ids and addresses of files (MP-34).
struct Unread {
  std::string path{};
  std::string
      kind{};  // `image`, `document`, `audio`, `file`, `signature`, `encrypted`, `prompt`, `url`
};

// A tool result inside the request.
struct ToolReturn {
  std::string path{};  // path of the block, message or item
  std::string tool_call_id{};
  std::string tool{};
  bool is_error = false;
  json::value content{};           // in the form of the API
  std::string member = "content";  // the member that holds it
};

// A tool that the provider runs (MP-36).
struct ProviderTool {
  std::string path{};  // path of its entry in `tools` or `mcp_servers`
  std::string type{};
  std::string name{};
};

// State that the provider keeps (MP-35).
struct StateRef {
  std::string path{};
  // `response`, `conversation`, `item`, `message`, `file`, `container`, `vector_store`
  std::string kind{};
  std::string id{};
};

struct Request {
  RequestKind kind = RequestKind::Messages;
  std::string model{};
  bool stream = false;
  bool json_format = false;   // asks for JSON in the text
  bool audio = false;         // asks for audio output
  std::uint64_t choices = 1;  // chat: `n`
  bool asks_usage = false;    // chat: `stream_options.include_usage`
  bool has_signed_blocks = false;
  std::optional<bool> store{};                  // Responses, chat
  std::optional<std::uint64_t> output_limit{};  // tokens that the client allows
  std::uint64_t media_parts = 0;                // images and documents, for the estimate (MP-71)
  std::uint64_t token_numbers = 0;              // embeddings: tokens that are sent as numbers
  std::vector<Leaf> leaves{};
  std::vector<Leaf> names{};  // member names that the client chose; a model reads them too
  std::vector<Unread> unread{};
  std::vector<ToolReturn> returns{};
  std::vector<ProviderTool> provider_tools{};
  std::vector<StateRef> state{};
  // Containers and vector stores. An operator may have made one for all agents.
  std::vector<StateRef> stores{};
  std::vector<std::string> call_ids{};  // ids of repeated calls of earlier answers
};

// `body` is a JSON object. Every string leaf of it is in `leaves` or in `unread`. `InvalidInput`:
// `model` is missing or not a text.
Result<Request> read_request(RequestKind kind, const json::value& body);
Result<Request> read_anthropic_request(RequestKind kind, const json::value& body);
Result<Request> read_chat_request(RequestKind kind, const json::value& body);  // and embeddings
Result<Request> read_responses_request(RequestKind kind, const json::value& body);

// Replaces the content of a result by a notice, with `is_error` if the API has it (MP-30).
void withhold(Splice& splice, RequestKind kind, const ToolReturn& result, std::string_view notice,
              const json::value& body);

}  // namespace sallyport::llm
