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
  // The origin of a text: the conversation or a tool result.
  struct Source {
    Leaf::Kind kind = Leaf::Kind::Input;
    std::string tool_call_id{};
    std::string tool{};
    bool repeated = false;  // a result that the provider made, in a history
  };
  static Source fixed() { return {.kind = Leaf::Kind::Fixed}; }

  void leaf(const Source& source, std::string path, std::string_view text);
  void unread(std::string path, std::string_view kind);
  // Adds the id of a file that the provider keeps. No check reads it, and it is state (MP-25).
  // In a repeated result it is the provider's own.
  void file(const Source& source, const std::string& path, const json::value& id);
  // Adds every string below the value.
  void all(const Source& source, const std::string& path, const json::value& value);
  // Adds the name of a member that the client chose.
  void member_name(const Source& source, const std::string& path, std::string_view name);
  // Adds a tool. The model reads its descriptions; its other strings are names.
  void tool(const std::string& path, const json::value& value);

  Request& request_;
  std::map<std::string, std::string, std::less<>> tools_;  // names by id of the call
};

// The value of a flag such as `stream`.
bool flag_in(const json::value& body, std::string_view name);
// `InvalidInput`: absent or not a text.
Result<std::string> model_in(const json::value& body);

// `withhold` for single APIs.
void withhold_anthropic(Splice& splice, const ToolReturn& result, std::string_view notice,
                        const json::value& body);
void withhold_chat(Splice& splice, const ToolReturn& result, std::string_view notice,
                   const json::value& body);

}  // namespace sallyport::llm
