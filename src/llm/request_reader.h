// Collects the strings of a request body. Base of the readers of single APIs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "llm/request.h"
#include "sallyport/json.h"

namespace sallyport::llm {

class RequestReader {
 public:
  explicit RequestReader(Request& request) : request_(request) {}

 protected:
  // Whose text it is: of the conversation, or of a tool's result.
  struct Source {
    Leaf::Kind kind = Leaf::Kind::Input;
    std::string tool_call_id{};
    std::string tool{};
  };
  static Source fixed() { return {.kind = Leaf::Kind::Fixed}; }

  void leaf(const Source& source, std::string path, std::string_view text);
  void unread(std::string path, std::string_view kind);
  // An id of a file of the provider: no check reads it, and it is state (MP-25).
  void file(const std::string& path, const json::value& id);
  // Every string below the value.
  void all(const Source& source, const std::string& path, const json::value& value);
  // The name of a member that the client chose.
  void member_name(const Source& source, const std::string& path, std::string_view name);
  // A tool: what describes it is read by the model, the rest names things.
  void tool(const std::string& path, const json::value& value);

  Request& request_;
  std::map<std::string, std::string, std::less<>> tools_;  // names by id of the call
};

// `stream`, and `max_tokens` or what the API calls it.
bool flag_in(const json::value& body, std::string_view name);
// `InvalidInput`: absent, or no text.
Result<std::string> model_in(const json::value& body);

// `withhold` of single APIs.
void withhold_anthropic(Splice& splice, const ToolReturn& result, std::string_view notice,
                        const json::value& body);
void withhold_chat(Splice& splice, const ToolReturn& result, std::string_view notice,
                   const json::value& body);

}  // namespace sallyport::llm
