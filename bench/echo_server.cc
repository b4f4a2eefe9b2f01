// The tool server of echo_server.mjs in C++, for loads where Node's own time would hide the gate's.
#include <boost/json.hpp>
#include <iostream>
#include <string>

namespace {

namespace json = boost::json;

json::value result_of(const json::object& request) {
  const json::string& method = request.at("method").as_string();
  if (method == "initialize") {
    return {{"protocolVersion", request.at("params").at("protocolVersion")},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "echo"}, {"version", "1"}}}};
  }
  if (method == "tools/list") {
    const json::value schema = {{"type", "object"},
                                {"properties", {{"message", {{"type", "string"}}}}},
                                {"required", json::array{"message"}}};
    return {{"tools",
             json::array{
                 {{"name", "echo"}, {"description", "Says it again"}, {"inputSchema", schema}}}}};
  }
  if (method == "tools/call") {
    const json::value& message = request.at("params").at("arguments").at("message");
    return {{"content", json::array{{{"type", "text"}, {"text", message}}}}};
  }
  return json::object();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json::value request = json::parse(line);
    const json::object& members = request.as_object();
    if (!members.contains("id")) continue;
    std::cout << json::serialize(json::value{
                     {"jsonrpc", "2.0"}, {"id", members.at("id")}, {"result", result_of(members)}})
              << std::endl;
  }
}
