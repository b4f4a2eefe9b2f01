#include "workbench/case_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "config/mapping.h"
#include "config/yaml_json.h"
#include "guardrails/document/gallery.h"
#include "policy/shipped.h"
#include "terminal/input.h"
#include "workbench/guard_config.h"

namespace sallyport::app {

namespace {

using config::YamlMember;
using config::YamlNode;

constexpr std::size_t kLargestCaseFile = 8u << 20;
constexpr std::size_t kMostCaseFiles = 10'000;
constexpr std::size_t kMostCases = 100'000;
constexpr std::string_view kPreset = "gallery:";

std::unexpected<Error> case_fault(const Error& error) {
  return fail(ErrorCode::Unavailable, error.message, error.where);
}

const YamlNode* find_member(const YamlNode& node, std::string_view name) {
  const auto found = std::ranges::find_if(
      node.members, [&](const YamlMember& member) { return member.key.text == name; });
  return found == node.members.end() ? nullptr : &found->value;
}

void move_down(YamlNode& node, int lines) {
  node.line += lines;
  for (YamlNode& item : node.items) move_down(item, lines);
  for (YamlMember& member : node.members) {
    move_down(member.key, lines);
    move_down(member.value, lines);
  }
}

// A line of JSON. YAML reads it with its places; it refuses some escapes of JSON, whose texts are
// then given as they are.
Result<YamlNode> parse_line(const std::string& line, const std::string& file, int number) {
  Result<YamlNode> node = config::parse_yaml(line, file);
  if (!node) {
    boost::system::error_code code;
    const json::value value = json::parse(line, code);
    if (code) {
      return fail(ErrorCode::Unavailable, "this line is not JSON: " + code.message(),
                  fmt::format("{}:{}:1", file, number));
    }
    node = config::parse_yaml(json::serialize(value), file);
    if (!node) return case_fault(node.error());
  }
  move_down(*node, number - 1);
  return node;
}

Result<std::vector<YamlNode>> parse_lines(const std::string& text, const std::string& file) {
  std::vector<YamlNode> nodes;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    SALLYPORT_TRY(YamlNode node, parse_line(line, file, number));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

bool is_lines(const std::string& file) {
  return file.ends_with(".jsonl") || file.ends_with(".ndjson");
}

// A document of cases has `cases`, is a list, or is one case.
bool holds_cases(const YamlNode& root) {
  if (root.kind == YamlNode::Kind::Sequence) return true;
  return find_member(root, "cases") != nullptr || find_member(root, "call") != nullptr ||
         find_member(root, "each") != nullptr;
}

class CaseReader {
 public:
  CaseReader(std::string file, std::vector<AnyCase>& out) : file_(std::move(file)), out_(out) {}

  Result<void> text(const std::string& text) {
    if (text.size() > kLargestCaseFile) {
      return fail(ErrorCode::Unavailable, "a file of cases is at most 8 MiB", file_);
    }
    if (is_lines(file_)) {
      SALLYPORT_TRY(const std::vector<YamlNode> nodes, parse_lines(text, file_));
      for (const YamlNode& node : nodes) SALLYPORT_CHECK_OK(read_node(node));
      return {};
    }
    const Result<YamlNode> root = config::parse_yaml(text, file_);
    if (!root) return case_fault(root.error());
    return document(*root);
  }

 private:
  Result<void> document(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::Sequence) return list(root);
    const YamlNode* const cases = find_member(root, "cases");
    if (cases == nullptr && holds_cases(root)) return read_node(root);
    const auto about_calls = [](const YamlNode& node) { return is_call_case(node); };
    // A document of guardrail cases alone has its own reader.
    if (cases == nullptr || !std::ranges::any_of(cases->items, about_calls)) {
      return guardrail_document(root);
    }
    for (const auto& [key, value] : root.members) {
      if (key.text == "cases") continue;
      if (key.text != "policy") return case_fault(fault(key, "unknown key `" + key.text + "`"));
      if (Result<void> read = config::read_text(policy_, 8u << 20)({value, file_}); !read) {
        return case_fault(read.error());
      }
    }
    return list(*cases);
  }

  Error fault(const YamlNode& node, std::string message) const {
    return {.message = std::move(message), .where = place_of(node, file_)};
  }

  Result<void> list(const YamlNode& node) {
    for (const YamlNode& item : node.items) SALLYPORT_CHECK_OK(read_node(item));
    return {};
  }

  Result<void> read_node(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::Mapping) {
      return case_fault(fault(node, "a case is a mapping with `name`, `call` and `expect`"));
    }
    if (!is_call_case(node)) {
      YamlNode root, cases, key;
      cases.kind = YamlNode::Kind::Sequence;
      cases.items = {node};
      root.kind = YamlNode::Kind::Mapping;
      key.text = "cases";
      root.members.push_back({std::move(key), std::move(cases)});
      return guardrail_document(root);
    }
    Result<std::vector<CallCase>> read = read_call_case(node, file_);
    if (!read) return case_fault(read.error());
    for (CallCase& call : *read) {
      if (!call.policy && !policy_.empty()) call.policy = policy_;
      AnyCase any{.file = file_, .line = call.line, .column = call.column};
      any.call = std::move(call);
      SALLYPORT_CHECK_OK(add(std::move(any)));
    }
    return {};
  }

  Result<void> guardrail_document(const YamlNode& root) {
    const Result<json::value> value = config::to_json(root, file_);
    if (!value) return case_fault(value.error());
    Result<std::vector<guardrails::Case>> cases = guardrails::read_cases(*value);
    if (!cases) {
      return case_fault({.message = cases.error().message,
                         .where = place_of(config::node_at(root, cases.error().where), file_)});
    }
    const YamlNode* const nodes = find_member(root, "cases");
    for (std::size_t at = 0; at < cases->size(); ++at) {
      AnyCase any{.file = file_};
      if (nodes != nullptr && at < nodes->items.size()) {
        any.line = nodes->items[at].line;
        any.column = nodes->items[at].column;
      }
      any.guardrail = std::move((*cases)[at]);
      SALLYPORT_CHECK_OK(add(std::move(any)));
    }
    return {};
  }

  Result<void> add(AnyCase test_case) {
    if (out_.size() >= kMostCases) {
      return fail(ErrorCode::Unavailable, "more than 100,000 cases", file_);
    }
    out_.push_back(std::move(test_case));
    return {};
  }

  std::string file_;
  std::vector<AnyCase>& out_;
  std::string policy_;  // of the document; empty: it names none
};

Result<std::vector<std::string>> files_below(const std::string& named) {
  std::error_code code;
  if (!std::filesystem::is_directory(named, code)) return std::vector{named};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(named, code)) {
    const std::string ending = entry.path().extension().string();
    const bool wanted =
        ending == ".yaml" || ending == ".yml" || ending == ".json" || ending == ".jsonl";
    if (!wanted || !entry.is_regular_file(code)) continue;
    files.push_back(entry.path().string());
    if (files.size() > kMostCaseFiles) {
      return fail(ErrorCode::Unavailable, "more than 10,000 files of cases", named);
    }
  }
  std::ranges::sort(files);
  if (files.empty()) {
    return fail(ErrorCode::Unavailable, "no file of cases (.yaml, .json or .jsonl) is here", named);
  }
  return files;
}

Result<void> read_case_file(const std::string& named, std::vector<AnyCase>& out) {
  SALLYPORT_TRY(const std::vector<std::string> files, files_below(named));
  for (const std::string& file : files) {
    SALLYPORT_TRY(const std::string text, read_input(file, kLargestCaseFile + 1));
    SALLYPORT_CHECK_OK(CaseReader(file, out).text(text));
  }
  return {};
}

Result<CaseSubject> subject_of_text(core::PolicyText texts, const std::string& name) {
  Result<policy::Policy> read = policy::read_policy(texts, name);
  if (!read) return case_fault(read.error());
  CaseSubject subject{.name = name, .text = std::move(texts.text)};
  auto compiled =
      guardrails::Guardrails::compile(read->guardrails.value_or(guardrails::Document{}));
  if (!compiled) return fail(ErrorCode::Unavailable, compiled.error().message, name);
  subject.guardrails = std::move(*compiled);
  subject.policy = std::move(*read);
  return subject;
}

// A policy begins with `version`, a guardrail document has no such key.
bool is_policy(const std::string& text, const std::string& file) {
  const Result<YamlNode> root = config::parse_yaml(text, file);
  return !root || find_member(*root, "version") != nullptr ||
         find_member(*root, "rules") != nullptr || find_member(*root, "extends") != nullptr;
}

// Reads the cases beside a policy. Used if none are named.
Result<void> read_usual_cases(const CaseSubject& subject, std::vector<AnyCase>& out) {
  if (subject.name.starts_with(kPreset)) {
    const auto* const preset = guardrails::preset(subject.name.substr(kPreset.size()));
    if (preset != nullptr) {
      return CaseReader(subject.name, out).text(std::string(preset->cases));
    }
  }
  if (const policy::ShippedPolicy* const shipped = policy::shipped_cases(subject.name)) {
    return CaseReader(subject.name + ".cases.yaml", out).text(std::string(shipped->text));
  }
  const std::filesystem::path beside =
      std::filesystem::path(subject.name).replace_extension(".cases.yaml");
  std::error_code code;
  if (std::filesystem::exists(beside, code)) return read_case_file(beside.string(), out);
  return fail(ErrorCode::InvalidInput,
              fmt::format("name the file of cases with `--cases`, or write `{}`", beside.string()));
}

}  // namespace

Result<CaseSuite> suite_of_texts(core::PolicyText policy, const std::string& cases) {
  CaseSuite suite;
  SALLYPORT_TRY(CaseSubject subject, subject_of_text(std::move(policy), "policy"));
  suite.subjects.push_back(std::move(subject));
  SALLYPORT_CHECK_OK(CaseReader("cases", suite.cases).text(cases));
  for (const AnyCase& test_case : suite.cases) {
    if (!test_case.call || !test_case.call->policy ||
        policy::shipped_policy(*test_case.call->policy))
      continue;
    return fail(ErrorCode::InvalidInput, "a case names another policy than the one that is tested",
                test_case.call->place());
  }
  return suite;
}

Result<CaseSubject> subject_of_case(const CallCase& test_case) {
  const std::string& named = *test_case.policy;
  if (const policy::ShippedPolicy* const shipped = policy::shipped_policy(named)) {
    return subject_of_text({.text = std::string(shipped->text)}, named);
  }
  if (named.find('\n') != std::string::npos || named.starts_with('{') ||
      named.starts_with("version:")) {
    return subject_of_text({.text = named}, fmt::format("{}({})", test_case.file, test_case.line));
  }
  const std::filesystem::path file = std::filesystem::path(test_case.file).parent_path() / named;
  const Result<std::string> text = read_input(file, kLargestCaseFile + 1);
  if (text) return subject_of_text({.text = *text}, file.string());
  return fail(ErrorCode::Unavailable,
              fmt::format("there is no policy `{:.80}`: neither one that comes with the program "
                          "nor a file beside the cases",
                          named),
              test_case.place());
}

Result<CaseSuite> read_case_suite(const Context& context, const std::vector<std::string>& files,
                                  const std::vector<std::string>& cases) {
  CaseSuite suite;
  for (const std::string& file : files) {
    if (const policy::ShippedPolicy* const shipped = policy::shipped_policy(file)) {
      SALLYPORT_TRY(CaseSubject subject,
                    subject_of_text({.text = std::string(shipped->text)}, file));
      suite.subjects.push_back(std::move(subject));
      continue;
    }
    std::string text;
    std::error_code code;
    if (!file.starts_with(kPreset)) {
      if (std::filesystem::is_directory(file, code)) {
        SALLYPORT_CHECK_OK(read_case_file(file, suite.cases));
        continue;
      }
      SALLYPORT_TRY(text, read_input(file, kLargestCaseFile + 1));
    }
    const Result<YamlNode> root = config::parse_yaml(text, file);
    if (is_lines(file) || (root && !text.empty() && holds_cases(*root))) {
      SALLYPORT_CHECK_OK(CaseReader(file, suite.cases).text(text));
    } else if (!text.empty() && is_policy(text, file)) {
      SALLYPORT_TRY(CaseSubject subject, subject_of_text({.text = std::move(text)}, file));
      suite.subjects.push_back(std::move(subject));
    } else {
      SALLYPORT_TRY(GuardConfig config, load_guardrails(context, file));
      if (!config.guardrails) {
        suite.exit_code = config.exit_code;
        return suite;
      }
      suite.subjects.push_back({.name = file, .guardrails = std::move(config.guardrails)});
    }
  }
  for (const std::string& named : cases) SALLYPORT_CHECK_OK(read_case_file(named, suite.cases));
  if (suite.cases.empty() && cases.empty()) {
    for (const CaseSubject& subject : suite.subjects) {
      const std::size_t before = suite.cases.size();
      SALLYPORT_CHECK_OK(read_usual_cases(subject, suite.cases));
      for (std::size_t at = before; at < suite.cases.size(); ++at) {
        suite.cases[at].subject = subject.name;
      }
    }
  }
  return suite;
}

}  // namespace sallyport::app
