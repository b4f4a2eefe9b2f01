#include "policy/result_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "core/plan/call_rules.h"
#include "core/plan/protocol_frame.h"

namespace sallyport::policy {

namespace {

using rules::ResultTest;
using rules::Then;

constexpr std::string_view kRedacted = "[redacted]";

json::value document_of(const ResultTest& test, bool redacts) {
  json::array checks;
  const auto add = [&](const char* type, const char* id, const char* list,
                       const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    checks.push_back(
        json::object{{"type", type},
                     {"stage", "tool_output"},
                     {"id", id},
                     {"on_fail", redacts ? "redact" : "log"},
                     {"replacement", test.replacement.value_or(std::string(kRedacted))},
                     {list, json::value_from(entries)}});
  };
  add("regex", "text", "patterns", test.text);
  add("blocklist", "words", "words", test.words);
  return json::object{{"checks", std::move(checks)}};
}

// `/checks/0/patterns/2` of the document is `/text/2` of the rule.
std::string place_in_rule(const guardrails::DocumentError& error, const ResultTest& test) {
  const std::string path = error.path.value_or("");
  const bool first = path.starts_with("/checks/0");
  const std::string part = first && !test.text.empty() ? "/text" : "/words";
  const std::size_t entry = path.find('/', std::string_view("/checks/0/").size());
  return entry == std::string::npos ? part : part + path.substr(entry);
}

Result<std::shared_ptr<const guards::ToolOutputGuardrails>> texts_of(
    const ResultTest& test, bool redacts, const guardrails::PatternStore* patterns) {
  if (test.text.empty() && test.words.empty()) return nullptr;
  const auto refuse = [&](const guardrails::DocumentError& error) {
    return fail(ErrorCode::InvalidInput, error.message, place_in_rule(error, test));
  };
  auto document = guardrails::read_document(document_of(test, redacts));
  if (!document) return refuse(document.error());
  auto compiled = guardrails::Guardrails::compile(std::move(*document), 1, patterns);
  if (!compiled) return refuse(compiled.error());
  return std::make_shared<const guards::ToolOutputGuardrails>(std::move(*compiled));
}

Result<std::shared_ptr<const guards::OutputSanitizer>> detectors_of(
    const ResultTest& test, bool redacts, const Clock& clock,
    const guardrails::PatternStore* patterns) {
  if (test.detector.empty()) return nullptr;
  guards::SanitizerSettings settings;
  settings.detectors.reset();
  for (std::size_t i = 0; i < test.detector.size(); ++i) {
    const std::string& name = test.detector[i];
    if (const auto detector = guards::detector_named(name)) {
      settings.detectors.set(guards::index_of(*detector));
    } else if (const auto category = guards::category_named(name)) {
      settings.detectors |= guards::detectors_of(*category);
    } else {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("`{:.80}` is neither a detector nor a category of the output sanitizer",
                      name),
          fmt::format("/detector/{}", i));
    }
  }
  settings.strategies.fill(redacts ? guards::Strategy::Mask : guards::Strategy::Keep);
  if (redacts) settings.replacement = test.replacement.value_or(std::string(kRedacted));
  settings.max_string_bytes = settings.max_total_bytes;  // nothing is cut
  return guards::OutputSanitizer::build(std::move(settings), {}, clock, patterns);
}

json::object* mcp_result(json::value& value) {
  json::object* const object = value.if_object();
  const json::value* const content = object ? object->if_contains("content") : nullptr;
  return content && content->is_array() ? object : nullptr;
}

// True if it is an error by its kind, or if an MCP server marked it as one.
bool is_error(const Envelope& result) {
  if (result.kind == Envelope::Kind::Error) return true;
  const json::object* const object = result.value.if_object();
  const json::value* const flag = object ? object->if_contains("isError") : nullptr;
  return flag && flag->is_bool() && flag->get_bool();
}

std::size_t size_of(const json::value& value) {
  return value.is_string() ? value.get_string().size() : canonical_json(value).size();
}

std::size_t size_of(const Envelope& result) {
  if (result.kind == Envelope::Kind::Value) return size_of(result.value);
  std::size_t size = result.message.size();
  if (!result.data.is_null()) size += size_of(result.data);
  for (const json::value& chunk : result.chunks) size += size_of(chunk);
  return size;
}

// Visits the JSON inside a text.
template <class Do>
void in_text(json::value& text, Do visit) {
  if (!text.is_string()) return;
  const std::string_view source = text.get_string();
  const std::size_t first = source.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (source[first] != '{' && source[first] != '[')) return;
  Result<ParsedJson> parsed = parse_json(source);
  if (!parsed) return;
  const json::value before = parsed->value;
  visit(parsed->value);
  if (parsed->value != before) text = json::serialize(parsed->value);
}

// Visits the roots for selectors: the value, an MCP result's structured content, JSON in texts.
template <class Do>
void each_root(json::value& value, Do visit) {
  visit(value);
  in_text(value, visit);
  json::object* const result = mcp_result(value);
  if (result == nullptr) return;
  if (json::value* const structured = result->if_contains("structuredContent")) visit(*structured);
  for (json::value& block : result->at("content").get_array()) {
    json::object* const object = block.if_object();
    json::value* const text = object ? object->if_contains("text") : nullptr;
    if (text) in_text(*text, visit);
  }
}

}  // namespace

// The check of one result.
class ResultRule::Look {
 public:
  Look(const ResultRule& rule, Envelope result) : rule_(rule), result_(std::move(result)) {}

  void run() {
    const ResultTest& test = rule_.test_;
    error_ = test.error && *test.error == is_error(result_);
    if (error_) note("error");
    if (!test.at.empty()) return look_at_parts();
    const bool whole = look_at(result_);
    if (whole && rule_.then_ == Then::Redact) replace_all();
  }

  bool matched() const { return !details_.empty(); }
  bool cannot_redact() const { return cannot_redact_; }
  const std::string& details() const { return details_; }
  const Envelope& result() const { return result_; }

 private:
  void note(std::string_view detail) {
    if (details_.find(detail) != std::string::npos) return;
    if (!details_.empty()) details_ += ';';
    details_ += detail;
  }

  // Checks a part and redacts the findings in its text. True: a test of the whole part holds.
  bool look_at(Envelope& part) {
    const ResultTest& test = rule_.test_;
    const bool large = test.larger_than && size_of(part) > *test.larger_than;
    if (test.any) note("any");
    if (large) note("larger_than");
    if (rule_.texts_) {
      const Verdict found = rule_.texts_->look_at(part, {});
      if (!found.findings.empty()) note("text");
      take(found, part);
    }
    if (rule_.detectors_) {
      const Verdict found = rule_.detectors_->sanitize(part);
      // A part that was not scanned completely counts as a match.
      if (found.kind == Verdict::Kind::Deny) note("not scanned");
      if (found.evidence.is_string()) note(std::string(found.evidence.get_string()));
      take(found, part);
    }
    return test.any || large || error_;
  }

  void take(const Verdict& found, Envelope& part) {
    if (rule_.then_ != Then::Redact) return;
    if (found.kind == Verdict::Kind::Deny) cannot_redact_ = true;
    if (found.kind != Verdict::Kind::Rewrite) return;
    Result<Envelope> changed = Envelope::from_json(found.value);
    if (changed) {
      part = std::move(*changed);
    } else {
      cannot_redact_ = true;
    }
  }

  void look_at_value(json::value& value) {
    Envelope part = Envelope::of(value);
    const bool whole = look_at(part);
    if (rule_.then_ != Then::Redact) return;
    value = whole ? json::value(replacement()) : std::move(part.value);
  }

  void look_at_parts() {
    const auto visit = [&](json::value& root) {
      for (const grants::Selector& selector : rule_.test_.at) {
        // The values are parts of `root`, which may be changed.
        for (const json::value* const found : selector.select(root)) {
          look_at_value(const_cast<json::value&>(*found));
        }
      }
    };
    if (result_.kind == Envelope::Kind::Value) return each_root(result_.value, visit);
    for (json::value& chunk : result_.chunks) each_root(chunk, visit);
    if (result_.kind != Envelope::Kind::Error) return;
    if (!result_.data.is_null()) each_root(result_.data, visit);
    // The text of an error has no parts and is checked as a whole.
    json::value text(result_.message);
    look_at_value(text);
    result_.message = text.is_string() ? std::string(text.get_string()) : replacement();
  }

  std::string replacement() const {
    return rule_.test_.replacement.value_or(std::string(kRedacted));
  }

  void replace_all() {
    switch (result_.kind) {
      case Envelope::Kind::Value:
        if (json::object* const mcp = mcp_result(result_.value)) {
          (*mcp)["content"] = json::array{json::object{{"type", "text"}, {"text", replacement()}}};
          // A client that expects structured content accepts a result without it only as an error.
          if (mcp->erase("structuredContent") > 0) (*mcp)["isError"] = true;
          mcp->erase("_meta");
        } else {
          result_.value = replacement();
        }
        return;
      case Envelope::Kind::Stream:
        result_.chunks = {json::value(replacement())};
        return;
      case Envelope::Kind::Error:
        result_.message = replacement();
        result_.data = nullptr;
    }
  }

  const ResultRule& rule_;
  Envelope result_;
  std::string details_;
  bool error_ = false;
  bool cannot_redact_ = false;
};

namespace {

// The message of a rule that has none.
std::string plain_message(const ResultTest& test, std::string_view found) {
  if (found.starts_with("any")) return "the policy withholds the results of such calls";
  if (found.starts_with("error")) {
    return *test.error ? "the result is an error" : "the result is not an error";
  }
  if (found.starts_with("larger_than")) {
    return fmt::format("the result is larger than {} bytes", *test.larger_than);
  }
  return "the result contains what the rule looks for";
}

}  // namespace

ResultRule::ResultRule(const rules::Rule& rule)
    : id_(rule.id),
      then_(rule.then),
      test_(*rule.result),
      message_(rule.message.find("${") == std::string::npos ? rule.message : std::string()),
      names_calls_(!rule.when.empty() || !rule.unless.empty() || rule.expires),
      traits_{.name = "rule " + rule.id, .rewrites = rule.then == Then::Redact} {}

Result<std::shared_ptr<const ResultRule>> ResultRule::build(
    const rules::Rule& rule, const Clock& clock, const guardrails::PatternStore* patterns) {
  std::shared_ptr<ResultRule> made(new ResultRule(rule));
  const bool redacts = rule.then == Then::Redact;
  SALLYPORT_TRY(made->texts_, texts_of(made->test_, redacts, patterns));
  SALLYPORT_TRY(made->detectors_, detectors_of(made->test_, redacts, clock, patterns));
  return made;
}

Verdict ResultRule::look_at(const Envelope& result, const std::string& message) const {
  Look look(*this, result);
  look.run();
  if (!look.matched()) return Verdict::allow();
  const std::string reason = !message.empty()    ? message
                             : !message_.empty() ? message_
                                                 : plain_message(test_, look.details());
  Verdict verdict;
  if (then_ == Then::Withhold || look.cannot_redact()) {
    verdict = Verdict::deny(reason, id_);
    verdict.value = fmt::format("[result withheld by rule `{}`] {}", id_, reason);
  } else if (then_ == Then::Redact) {
    verdict = Verdict::rewrite(look.result().to_json(), {}, id_);
  } else if (then_ == Then::Escalate) {
    verdict = Verdict::escalate(reason, id_);
  } else {
    verdict.rule = id_;
  }
  verdict.evidence = look.details();
  return verdict;
}

Task<Verdict> ResultRule::judge(const Envelope& result, const ResultContext& context) const {
  // A list of tools is not a result.
  if (context.effect_class == core::kProtocolFrame) co_return Verdict::allow();
  if (!context.rules && names_calls_) co_return Verdict::deny("the rule needs `call`", id_);
  std::string message;
  if (context.rules) {
    const auto applies = std::ranges::find(context.rules->apply, id_, &core::RuleItem::rule);
    if (applies != context.rules->apply.end()) {
      message = applies->message;
    } else if (names_calls_) {
      co_return Verdict::allow();
    }
  }
  co_return look_at(result, message);
}

Result<ResultRuleList> result_rules(const rules::RuleSet& set, const Clock& clock,
                                    const guardrails::PatternStore* patterns) {
  ResultRuleList list;
  for (const rules::Rule& rule : set.rules) {
    if (!rule.result) continue;
    SALLYPORT_TRY(auto made, ResultRule::build(rule, clock, patterns));
    list.push_back(std::move(made));
  }
  return list;
}

}  // namespace sallyport::policy
