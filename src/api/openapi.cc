#include "api/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "api/schema.h"
#include "base/lower_case.h"

namespace sallyport::api {

namespace {

// `log/tile/{path...}` as OpenAPI writes it.
std::string written(const Route& route) {
  std::string path = route.pattern;
  if (const std::size_t dots = path.find("..."); dots != std::string::npos) path.erase(dots, 3);
  return "/" + path;
}

std::string tag_of(const Route& route) {
  return route.pattern.substr(0, route.pattern.find('/'));
}

std::vector<std::string> names_in(std::string_view pattern) {
  std::vector<std::string> names;
  for (std::size_t at = pattern.find('{'); at != std::string_view::npos;
       at = pattern.find('{', at + 1)) {
    std::string name(pattern.substr(at + 1, pattern.find('}', at) - at - 1));
    if (name.ends_with("...")) name.erase(name.size() - 3);
    names.push_back(std::move(name));
  }
  return names;
}

json::array parameters_of(const Route& route) {
  json::array all;
  for (const std::string& name : names_in(route.pattern)) {
    all.push_back(json::object{
        {"name", name}, {"in", "path"}, {"required", true}, {"schema", schema::text()}});
  }
  for (const Parameter& parameter : route.words.query) {
    all.push_back(json::object{{"name", parameter.name},
                               {"in", "query"},
                               {"description", parameter.description},
                               {"schema", parameter.schema}});
  }
  if (route.method == "POST" && route.access == Access::Person) {
    all.push_back(json::object{{"$ref", "#/components/parameters/IdempotencyKey"}});
  }
  return all;
}

bool has_etag(const Route& route) {
  return route.method == "GET" && !std::holds_alternative<Stream>(route.handler);
}

std::set<unsigned> problems_of(const Route& route) {
  std::set<unsigned> all(route.words.problems.begin(), route.words.problems.end());
  all.insert({400, 503});
  if (route.access != Access::Open) all.insert({401, 403, 429});
  if (!names_in(route.pattern).empty()) all.insert(404);
  if (has_etag(route)) all.insert(412);
  if (route.method != "GET") all.insert({412, 413});
  if (route.method != "GET" && route.access != Access::Open) all.insert(415);
  if (route.method == "POST" && route.access == Access::Person) all.insert(422);
  return all;
}

json::object responses_of(const Route& route) {
  json::object all;
  const bool empty = route.words.response.empty();
  json::object good{{"description", empty ? "done" : "the result"}};
  if (!empty) {
    json::object shown{{"schema", route.words.response}};
    good["content"] = json::object{{route.words.type, std::move(shown)}};
  }
  if (empty) all["204"] = good;
  for (const unsigned status : route.words.good) {
    if (!empty) all[std::to_string(status)] = good;
  }
  if (has_etag(route)) {
    all["304"] = json::object{{"description", "not changed since the client read it"}};
  }
  for (const unsigned status : problems_of(route)) {
    all[std::to_string(status)] = json::object{{"$ref", "#/components/responses/Problem"}};
  }
  return all;
}

json::array security_of(const Route& route) {
  const json::object session{{"cookie", json::array()}, {"page", json::array()}};
  switch (route.access) {
    case Access::Open:
    case Access::Login:
      return {};
    case Access::Session:
      return {session};
    case Access::Person:
      return {session, json::object{{"token", json::array()}}};
  }
  return {};
}

std::string roles_text(const Route& route) {
  switch (route.access) {
    case Access::Open:
    case Access::Login:
      return "everyone";
    case Access::Session:
      return "a session of any role";
    case Access::Person:
      return fmt::format("{}", fmt::join(route.roles.names(), ", "));
  }
  return {};
}

json::object operation_of(const Route& route) {
  json::object all{{"operationId", route.words.name},
                   {"summary", route.words.summary},
                   {"description", fmt::format("For: {}.", roles_text(route))},
                   {"tags", json::array{tag_of(route)}},
                   {"security", security_of(route)}};
  json::array parameters = parameters_of(route);
  if (!parameters.empty()) all["parameters"] = std::move(parameters);
  if (!route.words.request.empty()) {
    json::object shape{{"schema", route.words.request}};
    all["requestBody"] = json::object{
        {"required", true}, {"content", json::object{{"application/json", std::move(shape)}}}};
  }
  all["responses"] = responses_of(route);
  return all;
}

json::object components() {
  const json::object problem =
      schema::object({{"type", schema::text()},
                      {"title", schema::text()},
                      {"status", schema::number()},
                      {"detail", schema::text()},
                      {"code", schema::text()},
                      {"error", schema::text()}},
                     {{"place", schema::text()}, {"state", schema::text()}});
  const json::object key{
      {"name", "Idempotency-Key"},
      {"in", "header"},
      {"description", "a repeat within 10 minutes gets the first response"},
      {"schema", json::object{{"type", "string"}, {"minLength", 8}, {"maxLength", 128}}}};
  const json::object shown{{"schema", json::object{{"$ref", "#/components/schemas/Problem"}}}};
  return {
      {"schemas", json::object{{"Problem", problem}}},
      {"parameters", json::object{{"IdempotencyKey", key}}},
      {"responses",
       json::object{{"Problem", json::object{{"description", "the error (RFC 9457)"},
                                             {"content", json::object{{"application/problem+json",
                                                                       shown}}}}}}},
      {"securitySchemes",
       json::object{{"cookie", json::object{{"type", "apiKey"},
                                            {"in", "cookie"},
                                            {"name", "sallyport"},
                                            {"description", "`__Host-sallyport` under https"}}},
                    {"page", json::object{{"type", "apiKey"},
                                          {"in", "header"},
                                          {"name", "X-Sallyport-Page"},
                                          {"description", "the page secret of the session"}}},
                    {"token", json::object{{"type", "http"},
                                           {"scheme", "bearer"},
                                           {"description", "the token of a registered person"}}}}}};
}

}  // namespace

json::object openapi(const RouteTable& table, std::string_view version) {
  json::object paths;
  std::set<std::string> tags;
  for (const Route& route : table.all()) {
    json::value& item = paths[written(route)];
    if (!item.is_object()) item = json::object();
    item.get_object()[lower_case(route.method)] = operation_of(route);
    tags.insert(tag_of(route));
  }
  json::array listed;
  for (const std::string& tag : tags) {
    listed.push_back(json::object{{"name", tag},
                                  {"description", fmt::format("Routes below {}/{}.", kRoot, tag)}});
  }
  return {{"openapi", "3.1.0"},
          {"info", json::object{{"title", "Sallyport"},
                                {"version", version},
                                {"description", "The API of a gate for people and their programs."},
                                {"license", json::object{{"name", "Apache-2.0"},
                                                         {"identifier", "Apache-2.0"}}}}},
          {"servers", json::array{json::object{{"url", kRoot}}}},
          {"tags", std::move(listed)},
          {"paths", std::move(paths)},
          {"components", components()}};
}

}  // namespace sallyport::api
