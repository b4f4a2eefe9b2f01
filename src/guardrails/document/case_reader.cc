#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include "base/json_pointer.h"
#include "base/try.h"
#include "guardrails/document/argument_path.h"
#include "guardrails/document/case_runner.h"
#include "guardrails/document/one_line.h"

namespace sallyport::guardrails {

namespace {

std::unexpected<Error> refuse(const std::string& where, std::string what) {
  return fail(ErrorCode::InvalidInput, std::move(what), where);
}

std::string below(std::string where, std::string_view key) {
  append_step(where, key);
  return where;
}

Result<std::string> read_text(const json::value& given, const std::string& where) {
  if (!given.is_string()) return refuse(where, "this must be a string");
  return std::string(given.get_string());
}

Result<std::vector<std::string>> read_texts(const json::value& given, const std::string& where) {
  if (!given.is_array() || given.get_array().empty()) {
    return refuse(where, "this must be a list of strings");
  }
  std::vector<std::string> texts;
  for (const json::value& item : given.get_array()) {
    SALLYPORT_TRY(std::string text, read_text(item, below(where, std::to_string(texts.size()))));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<Stage> read_stage(const json::value& given, const std::string& where) {
  SALLYPORT_TRY(const std::string name, read_text(given, where));
  const std::optional<Stage> stage = stage_named(name);
  if (stage) return *stage;
  return refuse(where, fmt::format("there is no stage `{}`; use input, output, tool_use or "
                                   "tool_output",
                                   in_one_line(name)));
}

Result<Verdict> read_verdict(const json::value& given, const std::string& where) {
  SALLYPORT_TRY(const std::string name, read_text(given, where));
  for (const Verdict verdict : {Verdict::Allow, Verdict::Redact, Verdict::Block}) {
    if (to_string(verdict) == name) return verdict;
  }
  return refuse(where, fmt::format("there is no verdict `{}`; use allow, redact or block",
                                   in_one_line(name)));
}

std::unexpected<Error> unknown(const std::string& where, std::string_view key,
                               std::string_view known) {
  return refuse(below(where, key),
                fmt::format("unknown key `{}`; known are {}", in_one_line(key), known));
}

Result<void> read_expectation(const json::value& given, const std::string& where, Case& out) {
  if (!given.is_object()) return refuse(where, "this must be an object");
  const json::object& object = given.get_object();
  for (const json::key_value_pair& member : object) {
    const std::string_view key = member.key();
    const std::string place = below(where, key);
    if (key == "verdict") {
      SALLYPORT_TRY(out.verdict, read_verdict(member.value(), place));
    } else if (key == "hits") {
      const bool none = member.value().is_array() && member.value().get_array().empty();
      out.hits.emplace();
      if (!none) {
        SALLYPORT_TRY(out.hits, read_texts(member.value(), place));
      }
    } else if (key == "text") {
      SALLYPORT_TRY(out.text, read_text(member.value(), place));
    } else if (key == "arguments") {
      out.new_arguments = member.value();
    } else {
      return unknown(where, key, "verdict, hits, text, arguments");
    }
  }
  if (!object.contains("verdict")) return refuse(where, "`verdict` is missing");
  return {};
}

Result<void> read_member(std::string_view key, const json::value& given, const std::string& where,
                         Case& out) {
  const std::string place = below(where, key);
  if (key == "name") {
    SALLYPORT_TRY(out.name, read_text(given, place));
  } else if (key == "stage") {
    SALLYPORT_TRY(out.stage, read_stage(given, place));
  } else if (key == "tool") {
    SALLYPORT_TRY(out.tool, read_text(given, place));
  } else if (key == "text") {
    SALLYPORT_TRY(std::string text, read_text(given, place));
    out.texts.push_back(std::move(text));
  } else if (key == "texts") {
    SALLYPORT_TRY(out.texts, read_texts(given, place));
  } else if (key == "arguments") {
    out.arguments = given;
  } else if (key == "expect") {
    return read_expectation(given, place, out);
  } else {
    return unknown(where, key, "name, stage, tool, text, texts, arguments, expect");
  }
  return {};
}

Result<Case> read_case(const json::value& given, const std::string& where) {
  if (!given.is_object()) return refuse(where, "a case must be an object");
  const json::object& object = given.get_object();
  Case out;
  for (const json::key_value_pair& member : object) {
    SALLYPORT_CHECK_OK(read_member(member.key(), member.value(), where, out));
  }
  for (const std::string_view key : {"name", "stage", "expect"}) {
    if (!object.contains(key)) return refuse(where, fmt::format("`{}` is missing", key));
  }
  const auto given_texts = object.count("text") + object.count("texts") + object.count("arguments");
  if (given_texts != 1) return refuse(where, "give one of text, texts and arguments");
  const bool tool_stage = out.stage == Stage::ToolUse || out.stage == Stage::ToolOutput;
  if (out.arguments && !tool_stage) {
    return refuse(below(where, "arguments"), "only for stages tool_use and tool_output");
  }
  if (!out.arguments && out.stage == Stage::ToolUse) {
    return refuse(where, "stage tool_use needs arguments");
  }
  return out;
}

}  // namespace

Result<std::vector<Case>> read_cases(const json::value& document) {
  const json::object* const object = document.if_object();
  const json::value* const list = object == nullptr ? nullptr : object->if_contains("cases");
  if (list == nullptr || !list->is_array()) return refuse("", "a list `cases` is missing");
  if (object->size() > 1) return refuse("", "only the key `cases` is known here");
  std::vector<Case> cases;
  for (const json::value& item : list->get_array()) {
    SALLYPORT_TRY(Case test_case, read_case(item, fmt::format("/cases/{}", cases.size())));
    cases.push_back(std::move(test_case));
  }
  return cases;
}

}  // namespace sallyport::guardrails
