#include "guards/form_guard.h"

#include <boost/json.hpp>
#include <memory>
#include <string>

#include "base/json_members.h"
#include "guardrails/check/guardrails.h"
#include "sallyport/json.h"

namespace sallyport::guards {

namespace {

// Words are compared as people read them: without invisible characters, and with look-alikes
// treated as equal.
constexpr std::string_view kImitations = R"json({"checks":[
  {"type":"regex","stage":"tool_output","id":"imitation","views":["strip","nfkc","confusables"],
   "patterns":["(?i)s[\\W_]{0,2}a[\\W_]{0,2}l[\\W_]{0,2}l[\\W_]{0,2}y[\\W_]{0,2}p[\\W_]{0,2}o[\\W_]{0,2}r[\\W_]{0,2}t",
               "(?i)pass[\\s_-]*phrase"]}]})json";
constexpr std::string_view kSecrets = R"json({"checks":[
  {"type":"regex","stage":"tool_output","id":"secret","views":["strip","nfkc","confusables"],
   "patterns":["(?i)pass[\\s_-]*(?:word|wd|code)",
               "(?i)(?:private|secret|api|access|auth|recovery|signing)[\\s_-]*(?:key|token|phrase|code)",
               "(?i)(?:\\b|_)(?:token|secrets?|pwd|otp|credentials?)(?:\\b|_)",
               "[a-z](?:Token|Secrets?|Pwd|Otp|Pin|Credentials?)(?:\\b|_)",
               "\\bPIN\\b|(?i:\\byour[\\s_-]+pin\\b)",
               "(?i)(?:^|\\n)(?:\\w*_)?pin[ ?:.*]*\\n",
               "(?i)(?:seed|mnemonic)[\\s_-]*(?:phrase|words)",
               "(?i)one[\\s_-]*time[\\s_-]*(?:code|pass|pin)",
               "(?i)credit[\\s_-]*card|card[\\s_-]*number|\\bcvv\\b|\\bpin[\\s_-]*(?:code|number)"]}]})json";

using Compiled = std::shared_ptr<const guardrails::Guardrails>;

// Null: the checks cannot be compiled; then all forms are denied. A test excludes this.
Compiled compiled(std::string_view text) {
  const auto document = guardrails::read_document(text);
  if (!document) return nullptr;
  auto made = guardrails::Guardrails::compile(*document, 1);
  return made ? std::move(*made) : nullptr;
}

// Every text and every name of a form, in one text.
void gather(const json::value& value, std::string& out) {
  if (const json::string* const text = value.if_string()) {
    out.append(text->data(), text->size());
    out += '\n';
  } else if (const json::array* const items = value.if_array()) {
    for (const json::value& item : *items) gather(item, out);
  } else if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) {
      out.append(member.key().data(), member.key().size());
      out += '\n';
      gather(member.value(), out);
    }
  }
}

bool finds(const Compiled& checks, const std::string& text) {
  if (!checks) return true;
  return checks->evaluate({.stage = guardrails::Stage::ToolOutput, .text = text}).verdict !=
         guardrails::Verdict::Allow;
}

bool is_web_address(std::string_view url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

}  // namespace

FormGuard::FormGuard() {
  traits_.name = "server-forms";
}

Task<Verdict> FormGuard::judge(const Call& call, const core::GuardContext&) const {
  if (call.tool != "elicitation/create") co_return Verdict::allow();
  // Compiled when the first form comes: most sessions have none.
  static const Compiled kImitating = compiled(kImitations);
  static const Compiled kAsking = compiled(kSecrets);
  std::string text;
  gather(call.input, text);
  if (finds(kImitating, text)) {
    co_return Verdict::deny(
        "a form of a server must not speak for Sallyport or ask for a passphrase",
        "form.imitation");
  }
  const json::object* const form = call.input.if_object();
  const bool page = form != nullptr && text_in(*form, "mode") == "url";
  if (page && !is_web_address(text_in(*form, "url").value_or(""))) {
    co_return Verdict::deny("a page that a server names must be at `http://` or `https://`",
                            "form.address");
  }
  if (!page && finds(kAsking, text)) {
    co_return Verdict::deny(
        "a form of a server must not ask for a secret; the protocol has pages for that (mode "
        "`url`)",
        "form.secret");
  }
  co_return Verdict::allow();
}

}  // namespace sallyport::guards
