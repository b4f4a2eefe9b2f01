// Questions as they are listed and shown over HTTP.

#include <algorithm>
#include <boost/json.hpp>

#include "api/cursor.h"
#include "api/schema.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/vote_check.h"
#include "daemon/api/approvals_api.h"
#include "ledger/read/look_at.h"
#include "people/answer_limits.h"
#include "people/approval_context.h"
#include "people/approval_json.h"
#include "people/approval_page.h"
#include "people/marked_text.h"
#include "records/agent_trust.h"
#include "trust/approver_book.h"
#include "trust/standing.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
constexpr std::size_t kMostListed = 1000;
constexpr std::string_view kList = "approvals";

// The end of a page: its last question.
std::uint64_t mark_of(std::string_view id) {
  const Hash hash = sha256(id);
  std::uint64_t mark = 0;
  for (int i = 0; i < 8; ++i) mark = mark << 8 | hash[static_cast<std::size_t>(i)];
  return mark;
}

// Drops all up to the question that the cursor names.
Result<void> drop_until(std::vector<ApprovalItem>& items, const api::Cursor& cursor) {
  const auto last = std::ranges::find(items, cursor.position,
                                      [](const ApprovalItem& item) { return mark_of(item.id); });
  if (last == items.end()) {
    return fail(ErrorCode::InvalidInput, "the page before has changed; begin without a cursor",
                "cursor", "bad_cursor");
  }
  items.erase(items.begin(), std::next(last));
  return {};
}

std::string page_text(const ApprovalItem& item, const json::value& result, bool full) {
  std::string text;
  for (const std::string& line : approval_page(item, result, full)) text += line + '\n';
  return text;
}

}  // namespace

void ApprovalsApi::add_reads(api::HttpApi& api) {
  const api::Roles roles{api::Role::Approver, api::Role::Viewer};
  api.add(
      {.method = "GET",
       .pattern = "approvals",
       .roles = roles,
       .handler = api::Read([this](const Request& request) { return list(request); }),
       .words = {.name = "listApprovals",
                 .summary = "Lists approval requests and escalations, riskiest first",
                 .query = {{"state", "pending, approved, ..., all [pending]", schema::text()},
                           {"kind", "approval, dual_control, question, escalation", schema::text()},
                           {"after", "only ids after this one, in order", schema::text()},
                           {"limit", "1 to 500", schema::number()},
                           {"cursor", "cursor of the previous page", schema::text()}},
                 .response = schema::object({{"approvals", schema::list(schema::object())},
                                             {"more", schema::truth()},
                                             {"cursor", schema::or_null(schema::text())},
                                             {"server_time", schema::text()},
                                             {"tree_size", schema::number()}})}});
  api.add({.method = "GET",
           .pattern = "approvals/{id}",
           .roles = roles,
           .handler = api::Read([this](const Request& request) { return show(request); }),
           .words = {.name = "showApproval",
                     .summary = "Shows one approval request, its answers and its result",
                     .query = {{"full", "1 leaves nothing out", schema::text()}},
                     .response = schema::object()}});
}

// Cached: the records of an open question do not change in this, and reading them takes as long as
// the rest of a list. An answer is judged by the records themselves.
Result<bool> ApprovalsApi::shown_own_look(const ApprovalItem& item) const {
  constexpr std::size_t kMostKnown = 4096;
  const auto known = own_looks_.with([&](const auto& all) -> std::optional<bool> {
    const auto found = all.find(item.id);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  if (known) return *known;
  SALLYPORT_TRY(const bool needed, needs_own_look(parts_.ledger.store(), item.request, item.state));
  own_looks_.with([&](auto& all) {
    if (all.size() >= kMostKnown) all.clear();
    all[item.id] = needed;
  });
  return needed;
}

Result<void> ApprovalsApi::add_views(json::object& shown, const ApprovalItem& item,
                                     const Request& request) const {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people());
  SALLYPORT_TRY(const std::string why,
                why_not(item, request.person, *people, parts_.strong,
                        [&](const ApprovalItem& one) { return shown_own_look(one); }));
  shown["risk"] = risk_json(item);
  shown["quorum"] = quorum_json(item, *people);
  std::vector<std::string> enrolled;
  if (!request.person.session.empty()) {
    SALLYPORT_TRY(enrolled, core::enrolled_keys(parts_.ledger));
  }
  shown["may_answer"] = may_answer_json(why, request.person.name, trust::enrolments_in(enrolled));
  return {};
}

// In the order of their risk; behind `after` in the order of their ids, page by page.
Result<api::Response> ApprovalsApi::list(const Request& request) const {
  const auto kind = request.query.get("kind");
  const std::string state = request.query.get("state").value_or("pending");
  const auto after = request.query.get("after");
  SALLYPORT_TRY(const auto limit, request.query.number("limit", 1, 500));
  SALLYPORT_TRY(std::uint64_t size,
                ledger::look_at(parts_.ledger.store(), &ledger::ReadView::size));
  SALLYPORT_TRY(std::vector<ApprovalItem> items,
                approval_items(parts_.ledger, {.kind = kind, .state = state}, parts_.clock.wall()));
  if (after) {
    std::ranges::sort(items, {}, &ApprovalItem::id);
    std::erase_if(items, [&](const ApprovalItem& item) { return item.id <= *after; });
  }
  const auto from = request.query.get("cursor");
  if (from) {
    SALLYPORT_TRY(const api::Cursor cursor, api::Cursor::parse(*from, kList, request.query));
    SALLYPORT_CHECK_OK(drop_until(items, cursor));
    size = cursor.tree_size;
  }
  const std::size_t most = limit ? static_cast<std::size_t>(*limit) : kMostListed;
  const bool more = items.size() > most;
  if (more) items.erase(items.begin() + static_cast<std::ptrdiff_t>(most), items.end());
  json::array all;
  for (const ApprovalItem& item : items) {
    json::object one = to_json(item);
    SALLYPORT_CHECK_OK(add_views(one, item, request));
    withhold(one, request.person);
    all.push_back(std::move(one));
  }
  const bool escalations = kind.value_or("escalation") == "escalation" &&
                           (state == "pending" || state == "all") && !from;
  if (escalations) {
    SALLYPORT_TRY(const auto waiting, core::waiting_escalations(parts_.ledger));
    for (const EscalationItem& item : waiting) {
      json::object one = to_json(item);
      withhold(one, request.person);
      all.push_back(std::move(one));
    }
  }
  if (!all.empty() && request.person.reads_sealed()) {
    SALLYPORT_CHECK_OK(parts_.opened.note(request.person, "approvals"));
  }
  json::object body{
      {"approvals", std::move(all)},
      {"more", more},
      {"cursor", more ? json::value(api::Cursor{mark_of(items.back().id), size, false}.text(
                            kList, request.query))
                      : json::value()}};
  api::Response answer{.state = json::serialize(body)};
  body["tree_size"] = size;
  body["server_time"] = rfc3339(parts_.clock.wall());
  answer.body = std::move(body);
  return answer;
}

// The tier as in `trust show`; null: it is unknown, and the question is shown without it.
json::value ApprovalsApi::tier_json(const std::string& agent) const {
  const Result<policy::ReviewerFile::List> people = parts_.people();
  if (agent.empty() || !people) return nullptr;
  const trust::ApproverBook book(**people);
  const Result<DeclaredTiers> declared = DeclaredTiers::read(parts_.ledger);
  const Result<trust::Standing> standing = trust::standing_of(parts_.ledger, agent, &book);
  if (!declared || !standing) return nullptr;
  return json::value(to_string(tier_of(*standing, declared->of(agent)).tier));
}

Result<json::object> ApprovalsApi::detail_json(ApprovalItem item, const Request& request) const {
  SALLYPORT_TRY(json::value result, result_of_approval(parts_.ledger, item.id));
  read_answers(parts_.ledger, request.person.reads_sealed(), item);
  const auto whole = request.query.get("full");
  if (whole && *whole != "1") {
    return fail(ErrorCode::InvalidInput, "`full` is `1`, or is left out", "full");
  }
  const bool full = whole.has_value();
  const std::string text = page_text(item, result, full);
  const bool cut = !full && text != page_text(item, result, true);
  json::object page = page_json(item, std::move(result));
  page["shown"] = json::object{{"text", text}, {"truncated", cut}, {"segments", marked_json(text)}};
  const std::string agent = text_or_empty(item.request, "agent_id");
  const json::value tier = tier_json(agent);
  SALLYPORT_CHECK_OK(parts_.ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(page["unlike"], unlike_json(view, item));
    SALLYPORT_TRY(page["why"], why_json(view, item));
    SALLYPORT_TRY(json::object counts, agent_counts(view, agent, parts_.clock.wall()));
    page["agent"] = json::object{{"tier", tier}, {"counts", std::move(counts)}};
    return {};
  }));
  page["edits"] = edits_json(item);
  SALLYPORT_CHECK_OK(add_views(page, item, request));
  return page;
}

// With the exact input for an approver who may answer it.
Result<api::Response> ApprovalsApi::show(const Request& request) const {
  const std::string& id = request.at("id");
  SALLYPORT_TRY(const auto escalation, core::waiting_escalation(parts_.ledger, id));
  json::object shown;
  if (escalation) {
    shown = to_json(*escalation);
  } else {
    SALLYPORT_TRY(ApprovalItem item, approval_item(parts_.ledger, id, parts_.clock.wall()));
    if (request.person.roles.has(api::Role::Approver)) {
      const Result<void> revealed = reveal(
          parts_.ledger, [&](std::string_view sealed) { return parts_.ledger.decrypt(sealed); },
          request.person.name, item);
      // An approver who may not answer this one still sees that it is there.
      if (!revealed && revealed.error().code != ErrorCode::Unauthenticated) {
        return std::unexpected(revealed.error());
      }
    }
    SALLYPORT_TRY(shown, detail_json(std::move(item), request));
  }
  withhold(shown, request.person);
  if (request.person.reads_sealed()) {
    SALLYPORT_CHECK_OK(parts_.opened.note(request.person, "approvals/" + id));
  }
  return api::Response{.body = std::move(shown)};
}

}  // namespace sallyport::app
