// Inspects a token with data of this machine only: its checks in order, and the grant that a call
// would use (CG-59, CG-60).
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/try.h"
#include "cli/command.h"
#include "cli/grants/grant_files.h"
#include "core/plan/budgets.h"
#include "grants/checks.h"
#include "grants/token_facts.h"
#include "ledger/read/store_reader.h"
#include "people/grant_authority.h"
#include "records/entry_text.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct InspectOptions {
  std::string token;
  std::optional<std::filesystem::path> call;
  std::optional<std::string> principal;
  std::optional<std::string> at;
  std::vector<std::string> trust;
};

using grants::Check;
using grants::Failure;

// The result of each check. Checks after a failure were not reached.
class Findings {
 public:
  void passed(Check check) { add(check, "ok", {}); }
  void unknown(Check check, std::string_view why) { add(check, "not checked", why); }
  void failed(const Failure& failure) {
    add(failure.check, "failed", failure.detail);
    rows_.back().as_object()["code"] = failure.code;
    failed_ = true;
    code_ = failure.code;
  }
  // True while nothing has failed.
  bool good() const { return !failed_; }
  const std::string& code() const { return code_; }

  json::array rows() const {
    json::array all = rows_;
    for (std::size_t i = rows_.size(); i < grants::kChecks.size(); ++i) {
      all.push_back(
          json::object{{"check", to_string(grants::kChecks[i])}, {"result", "not reached"}});
    }
    return all;
  }

 private:
  void add(Check check, std::string_view result, std::string_view why) {
    // A failure found early stands in its own place: those between were not reached.
    while (grants::kChecks[rows_.size()] != check) {
      rows_.push_back(json::object{{"check", to_string(grants::kChecks[rows_.size()])},
                                   {"result", "not reached"}});
    }
    json::object row{{"check", to_string(check)}, {"result", result}};
    if (!why.empty()) row["why"] = why;
    rows_.push_back(std::move(row));
  }

  json::array rows_;
  bool failed_ = false;
  std::string code_;
};

json::object to_json(const grants::Terms& terms) {
  json::array operations;
  if (terms.operations.invoke) operations.emplace_back("invoke");
  if (terms.operations.read_result) operations.emplace_back("read_result");
  if (terms.operations.delegate) operations.emplace_back("delegate");
  json::object object{{"server", terms.server}, {"tool", terms.tool}, {"operations", operations}};
  json::array constraints;
  for (const Constraint& each : terms.constraints) {
    constraints.push_back(json::object{{"type", each.type}, {"value", each.value}});
  }
  if (!constraints.empty()) object["constraints"] = std::move(constraints);
  if (terms.max_invocations) object["max_invocations"] = *terms.max_invocations;
  if (terms.rate) {
    object["rate"] =
        json::object{{"max", terms.rate->max}, {"per_seconds", terms.rate->per_seconds}};
  }
  if (terms.from) object["from"] = *terms.from;
  return object;
}

json::array to_json(const grants::TokenChain& chain) {
  json::array links;
  for (const grants::Token& token : chain.links) {
    json::array all;
    for (const grants::Terms& terms : token.grants) all.push_back(to_json(terms));
    json::object link{{"grant_id", token.id},         {"grant_digest", token.digest},
                      {"issuer", token.issuer},       {"principal", token.principal},
                      {"issued_at", token.issued_at}, {"expires_at", token.expires_at},
                      {"grants", std::move(all)}};
    if (token.subject_key) link["subject_key"] = *token.subject_key;
    if (token.parent) link["parent"] = *token.parent;
    links.push_back(std::move(link));
  }
  return links;
}

// Without a ledger, no revocation and no spending is known.
struct Surroundings {
  std::unique_ptr<Workspace> workspace{};
  std::optional<ledger::StoreReader> reader{};
  grants::TrustedIssuers trusted{};
  WallTime now{};
};

// RFC 3339, or whole Unix seconds as tokens have them.
Result<WallTime> moment_from(const std::string& text) {
  constexpr std::uint64_t kLast = 253402300799;
  std::uint64_t second = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), second);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && second <= kLast;
  if (whole) return WallTime(std::chrono::seconds(second));
  if (const std::optional<WallTime> at = from_rfc3339(text)) return *at;
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("--at is `{:.80}`; write a time as 2026-11-15T00:00:00Z, or Unix seconds", text));
}

Result<Surroundings> surroundings_of(const Context& context, const InspectOptions& options) {
  Surroundings around{.now = SystemClock().wall()};
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  if (place.has_ledger()) {
    SALLYPORT_TRY(around.workspace, context.open_reading());
    around.reader.emplace(around.workspace->store());
  }
  SALLYPORT_TRY(const auto authority, existing_grant_authority(place.data_dir));
  if (authority) around.trusted.insert(authority->key());
  for (const std::string& key : options.trust) {
    if (!grants::is_key(key)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("--trust is `{}`; write ed25519: and 64 lower-case hex digits", key));
    }
    around.trusted.insert(key);
  }
  if (options.at) {
    SALLYPORT_TRY(around.now, moment_from(*options.at));
  }
  return around;
}

Result<void> check_times_and_trust(Findings& findings, const grants::Examined& token,
                                   Surroundings& around) {
  findings.passed(Check::Form);
  findings.passed(Check::Signature);
  if (const auto failure = grants::check_time(token.chain, around.now)) {
    findings.failed(*failure);
    return {};
  }
  findings.passed(Check::Time);
  if (!around.reader) {
    findings.unknown(Check::Revocation, "there is no ledger here");
  } else {
    const grants::IsRevoked revoked = [&](const std::string& id) {
      return grants::is_revoked(*around.reader, id);
    };
    SALLYPORT_TRY(const auto failure, grants::check_revocation(token.chain, revoked));
    if (failure) {
      findings.failed(*failure);
      return {};
    }
    findings.passed(Check::Revocation);
  }
  if (const auto failure = grants::check_delegation(token)) {
    findings.failed(*failure);
    return {};
  }
  findings.passed(Check::Delegation);
  return {};
}

// The first grant that fits and has room, and why the others do not.
Result<void> check_call(Findings& findings, const grants::Examined& token, const CallFile& file,
                        Surroundings& around, json::object& report) {
  // No policy is known here, so no hook can enforce filters on rows.
  const grants::CallView view{file.call, file.effect_class, false};
  grants::Fitting fits = grants::fitting(token, view);
  std::optional<std::size_t> matched;
  std::optional<Failure> failure;
  for (const std::size_t index : fits.order) {
    std::optional<std::string_view> word;
    for (const core::Limit& limit : token.grants[index].spending.limits) {
      if (!around.reader) break;
      SALLYPORT_TRY(word, core::budgets::full(*around.reader, limit, around.now));
      if (word) break;
    }
    if (!word && !matched) matched = index;
    if (word) {
      fits.passed_over.push_back({index, std::string(*word)});
      if (!failure) failure = Failure{*word, Check::Budget, "no grant that fits has room left"};
    }
  }
  json::array misfits;
  for (const grants::PassedOver& each : fits.passed_over) {
    misfits.push_back(json::object{{"grant", each.index}, {"why", each.why}});
  }
  report["misfits"] = std::move(misfits);
  report["matched_grant_index"] = matched ? json::value(*matched) : json::value();
  if (fits.order.empty()) {
    findings.failed({"grant_scope", Check::Scope, "no grant of the token fits the call"});
    return {};
  }
  findings.passed(Check::Scope);
  if (matched) {
    findings.passed(Check::Budget);
  } else {
    findings.failed(*failure);
  }
  return {};
}

void print(const json::object& report, const grants::TokenChain* chain, const Context& context) {
  if (context.json()) return print_line(visible_json(canonical_json(report)));
  for (std::size_t step = 0; chain != nullptr && step < chain->links.size(); ++step) {
    const grants::Token& token = chain->links[step];
    print_line(fmt::format("step {}  {}  {}", step, token.id, token.digest));
    print_line(fmt::format("  from {} to {}", visible(token.issuer), visible(token.principal)));
    print_line(fmt::format("  valid from {} until {}", time_text(token.issued_at),
                           time_text(token.expires_at)));
    for (std::size_t i = 0; i < token.grants.size(); ++i) {
      print_line(fmt::format("  grant {}  {}", i, compact_json(to_json(token.grants[i]))));
    }
  }
  for (const json::value& row : report.at("checks").as_array()) {
    const json::object& check = row.as_object();
    std::string line = fmt::format("{:<11} {}", check.at("check").as_string().c_str(),
                                   check.at("result").as_string().c_str());
    if (const json::value* const code = check.if_contains("code")) {
      line += fmt::format(": {}", code->as_string().c_str());
    }
    if (const json::value* const why = check.if_contains("why")) {
      line += fmt::format(" ({})", visible(why->as_string()));
    }
    print_line(line);
  }
  if (!report.contains("misfits")) return;
  for (const json::value& row : report.at("misfits").as_array()) {
    print_line(fmt::format("grant {} does not fit: {}", row.at("grant").to_number<std::uint64_t>(),
                           visible(row.at("why").as_string())));
  }
  const json::value& matched = report.at("matched_grant_index");
  print_line(matched.is_null()
                 ? std::string("no grant matches")
                 : fmt::format("grant {} matches", matched.to_number<std::uint64_t>()));
}

Result<int> grants_inspect(const Context& context, const InspectOptions& options) {
  if (options.principal && options.principal->empty()) {
    return fail(ErrorCode::InvalidInput, "--principal is empty; name who presents the token");
  }
  SALLYPORT_TRY(const std::string text, read_token_text(options.token));
  std::optional<CallFile> call;
  if (options.call) {
    SALLYPORT_TRY(call, read_call(*options.call));
  }
  SALLYPORT_TRY(Surroundings around, surroundings_of(context, options));
  const grants::Examination examination = grants::examine(text, around.trusted);
  Findings findings;
  json::object report;
  const grants::TokenChain* chain = examination.chain ? &*examination.chain : nullptr;
  if (examination.failure) {
    if (examination.failure->check != Check::Form) findings.passed(Check::Form);
    findings.failed(*examination.failure);
  } else {
    const grants::Examined& token = *examination.token;
    chain = &token.chain;
    SALLYPORT_CHECK_OK(check_times_and_trust(findings, token, around));
    const std::string principal =
        options.principal.value_or(call && call->names_principal ? call->call.agent_id : "");
    if (findings.good() && principal.empty()) {
      findings.unknown(Check::Subject, "the command does not say who presents it");
    } else if (findings.good()) {
      const auto failure = grants::check_subject(token.chain, principal);
      failure ? findings.failed(*failure) : findings.passed(Check::Subject);
    }
    if (findings.good() && call) {
      SALLYPORT_CHECK_OK(check_call(findings, token, *call, around, report));
    } else if (findings.good()) {
      findings.unknown(Check::Scope, "there is no call to compare it with");
      findings.unknown(Check::Budget, "there is no call to compare it with");
    }
  }
  report["valid"] = findings.good();
  report["code"] = findings.good() ? json::value() : json::value(findings.code());
  report["checks"] = findings.rows();
  report["chain"] = chain ? to_json(*chain) : json::array();
  print(report, chain, context);
  return findings.good() ? 0 : 1;
}

const Command kGrantsInspect(
    "grants inspect", "run every check of a token, and find the grant that matches", grants_inspect,
    [](Syntax& syntax, InspectOptions& options) {
      syntax.text("token", options.token, "a file, -, or the token itself", "TOKEN").required();
      syntax.file("--call", options.call, "a call to check the token against, as JSON");
      syntax.text("--principal", options.principal, "who presents the token [as the call says]",
                  "PRINCIPAL");
      syntax.text("--at", options.at, "time of the checks [now]", "TIME");
      syntax.texts("--trust", options.trust, "an issuer to trust; may be repeated", "KEY");
    });

}  // namespace

}  // namespace sallyport::app
