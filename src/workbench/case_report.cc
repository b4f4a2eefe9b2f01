#include "workbench/case_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/visible_text.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// Text for an XML 1.0 document. Characters that it cannot hold become escapes.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// One suite for each file of cases and policy, in the form of Ant's JUnit schema.
void print_junit(const std::vector<CaseOutcome>& outcomes) {
  print_line(R"(<?xml version="1.0" encoding="UTF-8"?>)");
  print_line("<testsuites>");
  std::size_t id = 0;
  for (auto at = outcomes.begin(); at != outcomes.end(); ++id) {
    const auto end = std::find_if(at, outcomes.end(), [&](const CaseOutcome& other) {
      return other.file != at->file || other.policy != at->policy;
    });
    const auto failures =
        std::count_if(at, end, [](const CaseOutcome& one) { return !one.problem.empty(); });
    double seconds = 0;
    std::for_each(at, end, [&](const CaseOutcome& one) { seconds += one.seconds; });
    // The time and the machine are fixed, so that the same cases give the same bytes.
    print_line(fmt::format(R"(  <testsuite package="sallyport.policy" id="{}" name="{}" )"
                           R"(timestamp="1970-01-01T00:00:00" hostname="localhost" tests="{}" )"
                           R"(failures="{}" errors="0" time="{:.3f}">)",
                           id, xml(at->file + " on " + at->policy), end - at, failures, seconds));
    print_line("    <properties/>");
    for (; at != end; ++at) {
      const std::string open =
          fmt::format(R"(    <testcase name="{}" classname="{}" time="{:.3f}")", xml(at->name),
                      xml(at->policy), at->seconds);
      if (at->problem.empty()) {
        print_line(open + "/>");
        continue;
      }
      print_line(open + ">");
      print_line(fmt::format(R"(      <failure message="{}" type="expectation">{}:{}:{}</failure>)",
                             xml(at->problem), xml(at->file), at->line, at->column));
      print_line("    </testcase>");
    }
    print_line("    <system-out></system-out>");
    print_line("    <system-err></system-err>");
    print_line("  </testsuite>");
  }
  print_line("</testsuites>");
}

// A workflow command. Characters that would end a value are escaped.
std::string annotation(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool escaped = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

void print_github(const std::vector<CaseOutcome>& outcomes) {
  for (const CaseOutcome& outcome : outcomes) {
    if (outcome.problem.empty()) continue;
    print_line(fmt::format("::error file={},line={},col={},title={}::{}",
                           annotation(visible(outcome.file), true), outcome.line, outcome.column,
                           annotation(visible(outcome.name), true),
                           annotation(visible(outcome.problem), false)));
  }
}

void print_text(const std::vector<CaseOutcome>& outcomes) {
  for (const CaseOutcome& outcome : outcomes) {
    print_line(outcome.problem.empty() ? fmt::format("ok      {}", visible(outcome.name))
                                       : fmt::format("FAILED  {}: {}", visible(outcome.name),
                                                     visible(outcome.problem)));
    if (!outcome.problem.empty() && outcome.answer) {
      print_line(fmt::format("        {}:{}:{}, policy {}", visible(outcome.file), outcome.line,
                             outcome.column, visible(outcome.policy)));
    }
  }
}

}  // namespace

json::object to_json(const CaseOutcome& outcome) {
  const bool passed = outcome.problem.empty();
  json::object object{{"name", outcome.name},
                      {"passed", passed},
                      {"problem", passed ? json::value() : json::value(outcome.problem)},
                      {"policy", outcome.policy},
                      {"file", outcome.file},
                      {"line", outcome.line},
                      {"column", outcome.column}};
  if (outcome.answer) object["answer"] = to_json(*outcome.answer);
  return object;
}

void print_report(const std::vector<CaseOutcome>& outcomes, const std::string& format) {
  if (format == "json") {
    for (const CaseOutcome& outcome : outcomes) print_line(json::serialize(to_json(outcome)));
    return;
  }
  if (format == "junit") return print_junit(outcomes);
  if (format == "github") {
    print_github(outcomes);
  } else {
    print_text(outcomes);
  }
  const auto failed =
      std::ranges::count_if(outcomes, [](const CaseOutcome& one) { return !one.problem.empty(); });
  print_line(fmt::format("{} passed, {} failed", outcomes.size() - static_cast<std::size_t>(failed),
                         failed));
}

}  // namespace sallyport::app
