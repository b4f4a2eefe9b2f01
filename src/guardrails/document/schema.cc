#include "guardrails/document/schema.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <initializer_list>

#include "guardrails/document/document_names.h"

namespace sallyport::guardrails {

namespace {

template <class E>
json::object one_of(E, std::string_view description) {
  json::array names;
  for (const auto& [value, name] : spellings(E{})) names.emplace_back(name);
  return {{"enum", std::move(names)}, {"description", description}};
}

json::object boolean(std::string_view description, bool preset) {
  return {{"type", "boolean"}, {"default", preset}, {"description", description}};
}

json::object integer(std::uint64_t least, std::uint64_t most, std::uint64_t preset,
                     std::string description) {
  return {{"type", "integer"},
          {"minimum", least},
          {"maximum", most},
          {"default", preset},
          {"description", std::move(description)}};
}

// A schema counts characters. A text never has more characters than bytes, so no allowed text is
// refused here.
json::object entries(std::string_view description) {
  return {
      {"type", "array"},
      {"minItems", 1},
      {"maxItems", kMostEntries},
      {"items",
       {{"type", "string"},
        {"minLength", 1},
        {"maxLength", kMostEntryBytes},
        {"description", fmt::format("1 to {} bytes of UTF-8, not characters", kMostEntryBytes)}}},
      {"description", fmt::format("{}; 1 to {} entries", description, kMostEntries)}};
}

json::object argument_paths() {
  json::object schema = entries(
      "the parts of the arguments that are checked: JSON Pointers in which `*` is one segment");
  schema["items"].as_object()["pattern"] = "^(?:/(?:[^~/]|~[01])*)+$";
  return schema;
}

json::object views() {
  return {{"type", "array"},
          {"minItems", 1},
          {"uniqueItems", true},
          {"items", one_of(View{}, "a normaliser or a decoder")},
          {"description", "other readings of the text, which are checked too"}};
}

json::object id_schema() {
  return {{"type", "string"},
          {"minLength", 1},
          {"maxLength", kMostIdCharacters},
          {"pattern", "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},
          {"description",
           fmt::format("unique name of the check; 1 to {} characters, not bytes, and no control "
                       "characters",
                       kMostIdCharacters)}};
}

json::object replacement_schema() {
  return {{"type", "string"},
          {"maxLength", kMostReplacementBytes},
          {"description",
           fmt::format("text that replaces what was found, may be empty; at most {} bytes of "
                       "UTF-8, not characters",
                       kMostReplacementBytes)}};
}

json::object check_keys() {
  json::object on_fail = one_of(Action{}, "what happens when something is found");
  on_fail["default"] = to_string(Action::Block);
  json::object severity = one_of(Severity{}, "is reported; never changes a verdict");
  severity["default"] = to_string(Severity::Medium);
  return {
      {"type", one_of(CheckType{}, "kind of the check")},
      {"stage", one_of(Stage{}, "texts that the check reads")},
      {"id", id_schema()},
      {"on_fail", std::move(on_fail)},
      {"severity", std::move(severity)},
      {"replacement", replacement_schema()},
      {"patterns",
       entries("regular expressions with at most 1000 repeats, counted as the product of nested "
               "repeats")},
      {"unicode",
       {{"type", "boolean"},
        {"description",
         "Unicode or ASCII classes; without it, ASCII where a pattern has \\b or \\B"}}},
      {"words", entries("words to find")},
      {"case_sensitive", boolean("whether case counts", false)},
      {"whole_word", boolean("whether a word must stand by itself", false)},
      {"tools", entries("names of tools; `*` stands for any characters")},
      {"args", argument_paths()},
      {"except", entries("a match inside one of these does not count")},
      {"views", views()},
      {"decode_depth",
       integer(1, kMostDecodeDepth, 2, "how many decoders may follow one another")}};
}

// If `condition` holds, `keys` must be absent.
json::object without(json::value condition, std::initializer_list<std::string_view> keys) {
  json::object refused;
  for (const std::string_view key : keys) refused[key] = false;
  return {{"if", std::move(condition)}, {"then", {{"properties", std::move(refused)}}}};
}

json::object where(std::string_view key, json::value condition) {
  return {{"properties", {{key, std::move(condition)}}}, {"required", {key}}};
}

json::object is(std::string_view value) {
  return {{"const", value}};
}

json::object none_of(std::initializer_list<std::string_view> values) {
  return {{"not", {{"enum", json::array(values.begin(), values.end())}}}};
}

json::object needs_own_list(CheckType type) {
  return {{"if", where("type", is(to_string(type)))},
          {"then", {{"required", json::array{own_list(type)}}}}};
}

json::object tool_pattern_rules() {
  return {{"if", where("type", is("tool_pattern"))},
          {"then",
           {{"properties",
             {{"stage", is("tool_use")},
              {"on_fail", none_of({"redact"})},
              {"args", false},
              {"views", false}}}}}};
}

json::object tools_scope_rules() {
  json::object condition = where("type", none_of({"tool_pattern"}));
  condition["properties"].as_object()["stage"] = none_of({"tool_use", "tool_output"});
  return without(std::move(condition), {"tools"});
}

json::object check_schema() {
  json::array rules;
  for (const CheckType type : {CheckType::Regex, CheckType::Blocklist, CheckType::ToolPattern}) {
    rules.push_back(needs_own_list(type));
  }
  rules.push_back(tool_pattern_rules());
  rules.push_back(tools_scope_rules());
  rules.push_back(without(where("type", none_of({"regex"})), {"patterns", "unicode"}));
  rules.push_back(
      without(where("type", none_of({"blocklist"})), {"words", "case_sensitive", "whole_word"}));
  rules.push_back(without(where("stage", none_of({"tool_use"})), {"args"}));
  return {{"type", "object"},
          {"properties", check_keys()},
          {"required", {"type", "stage"}},
          {"additionalProperties", false},
          {"dependentRequired", {{"decode_depth", {"views"}}}},
          {"allOf", std::move(rules)}};
}

}  // namespace

json::value document_schema() {
  json::object mode = one_of(Mode{}, "advisory: everything is found and reported, nothing is done");
  mode["default"] = to_string(Mode::Active);
  json::object keys{
      {"mode", std::move(mode)},
      {"checks",
       {{"type", "array"},
        {"maxItems", kMostChecks},
        {"items", {{"$ref", "#/$defs/check"}}},
        {"description", fmt::format("at most {} checks", kMostChecks)}}},
      {"max_hold_bytes", integer(kLeastHoldBytes, kMostHoldBytes, 65536,
                                 "how many bytes, not characters, of a stream may be held back")}};
  return json::object{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Sallyport guardrails"},
      {"description", fmt::format("at most {} bytes and {} levels of nesting; null means no checks",
                                  kMostDocumentBytes, kMostNesting)},
      {"type", json::array{"object", "null"}},
      {"properties", std::move(keys)},
      {"additionalProperties", false},
      {"$defs", {{"check", check_schema()}}}};
}

}  // namespace sallyport::guardrails
