#include "agent/tool/tool_schema.h"

#include <boost/json.hpp>

namespace sallyport::agent {

json::object schema_of(std::initializer_list<InputMember> members) {
  json::object properties;
  json::array required;
  for (const InputMember& member : members) {
    json::object about{{"description", member.about}};
    switch (member.type) {
      case InputType::Text:
        about["type"] = "string";
        break;
      case InputType::Count:
        about["type"] = "integer";
        about["minimum"] = 0;
        break;
      case InputType::Flag:
        about["type"] = "boolean";
        break;
    }
    properties[member.name] = std::move(about);
    if (member.required) required.emplace_back(member.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace sallyport::agent
