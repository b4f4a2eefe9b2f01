#include "api/schema.h"

#include <boost/json.hpp>

namespace sallyport::api::schema {

json::object text() {
  return {{"type", "string"}};
}
json::object number() {
  return {{"type", "integer"}};
}
json::object truth() {
  return {{"type", "boolean"}};
}
json::object any() {
  return {};
}
json::object object() {
  return {{"type", "object"}};
}

json::object or_null(json::object of) {
  json::value* const type = of.if_contains("type");
  if (type != nullptr && type->is_string()) {
    *type = json::array{*type, "null"};
    return of;
  }
  return {{"anyOf", json::array{std::move(of), json::object{{"type", "null"}}}}};
}

json::object list(json::object items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

json::object one_of(std::initializer_list<std::string_view> words) {
  json::array all;
  for (const std::string_view word : words) all.emplace_back(word);
  return {{"type", "string"}, {"enum", std::move(all)}};
}

json::object object(Members needed, Members optional) {
  json::object properties;
  json::array required;
  for (const auto& [name, of] : needed) {
    properties[name] = of;
    required.emplace_back(name);
  }
  for (const auto& [name, of] : optional) properties[name] = of;
  json::object all{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) all["required"] = std::move(required);
  return all;
}

json::object exact(Members needed, Members optional) {
  json::object all = object(needed, optional);
  all["additionalProperties"] = false;
  return all;
}

json::object page(json::object items) {
  return object(
      {{"items", list(std::move(items))},
       {"next", or_null(text())},
       {"prev", or_null(text())},
       {"tree_size", number()},
       {"total", number()},
       {"exact", truth()}},
      {{"reached", or_null(object({{"sequence", number()}, {"side", one_of({"next", "prev"})}}))}});
}

}  // namespace sallyport::api::schema
