// The log itself over HTTP: how much is in it, its checkpoints, proofs, keys and gaps.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <tuple>

#include "api/schema.h"
#include "base/encoding.h"
#include "base/nearest.h"
#include "base/try.h"
#include "daemon/api/records_api.h"
#include "ledger/proof/cosigned.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/tree.h"
#include "ledger/read/export.h"
#include "ledger/read/query.h"
#include "ledger/read/tile_reader.h"
#include "records/gaps.h"
#include "records/ledger_counts.h"
#include "records/prefix_view.h"
#include "records/selection.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;
using ledger::Facet;

constexpr std::pair<std::string_view, Facet> kFields[] = {
    {"agent", Facet::Agent},     {"kind", Facet::Kind}, {"outcome", Facet::Outcome},
    {"server", Facet::Server},   {"tool", Facet::Tool}, {"topic", Facet::Topic},
    {"session", Facet::Session}, {"run", Facet::Run}};

constexpr std::size_t kMostValues = 500;

// The most frequent first.
struct Ranked {
  std::vector<std::pair<std::string, std::uint64_t>> values{};
  std::size_t left_out = 0;
};

Result<Ranked> ranked(ledger::ReadView& view, Facet facet) {
  SALLYPORT_TRY(const auto counts, ledger::count_by(view, facet));
  Ranked all{.values = {counts.begin(), counts.end()}};
  std::ranges::sort(all.values, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  if (all.values.size() > kMostValues) {
    all.left_out = all.values.size() - kMostValues;
    all.values.resize(kMostValues);
  }
  return all;
}

Result<api::Response> facets(ledger::ReadView& view, const api::Request& request) {
  const std::string field = request.query.get("field").value_or("");
  for (const auto& [name, facet] : kFields) {
    if (name != field) continue;
    SALLYPORT_TRY(const Ranked found, ranked(view, facet));
    json::array values;
    for (const auto& [value, count] : found.values) {
      values.push_back(json::object{{"value", value}, {"count", count}});
    }
    return api::Response{.body = json::object{{"field", field},
                                              {"values", std::move(values)},
                                              {"left_out", found.left_out}}};
  }
  return fail(ErrorCode::InvalidInput,
              "`field` is one of agent, kind, outcome, server, tool, topic, session, run", "field");
}

// The most frequent values of each group.
Result<json::object> frequent(ledger::ReadView& view, LedgerCounts counts) {
  constexpr std::pair<std::string_view, Facet> kGroups[] = {{"kinds", Facet::Kind},
                                                            {"outcomes", Facet::Outcome},
                                                            {"tools", Facet::Tool},
                                                            {"agents", Facet::Agent}};
  std::size_t left_out = 0;
  for (auto& [name, group] : counts.groups) {
    if (group.size() <= kMostValues) continue;
    const auto* const facet =
        std::ranges::find(kGroups, name, [](const auto& one) { return one.first; });
    SALLYPORT_TRY(const Ranked found, ranked(view, facet->second));
    group = {found.values.begin(), found.values.end()};
    left_out += found.left_out;
  }
  json::object body = to_json(counts);
  body["left_out"] = left_out;
  return body;
}

// Counts of recent entries by intervals.
Result<json::object> lately(RecentCounts& counts, ledger::ReadView& view,
                            const api::Request& request, WallTime now) {
  constexpr std::pair<std::string_view, std::chrono::seconds> kBuckets[] = {
      {"1m", std::chrono::minutes(1)}, {"1h", std::chrono::hours(1)}, {"1d", std::chrono::days(1)}};
  constexpr int kPieces = 60;
  const std::string name = request.query.get("bucket").value_or("");
  const auto* const found =
      std::ranges::find(kBuckets, name, [](const auto& one) { return one.first; });
  const std::string by = request.query.get("by").value_or("outcome");
  if (found == std::end(kBuckets) || (by != "outcome" && by != "kind")) {
    return fail(ErrorCode::InvalidInput, "`bucket` is 1m, 1h or 1d, and `by` is outcome or kind",
                "bucket");
  }
  const std::chrono::seconds length = found->second;
  const auto end = std::chrono::floor<std::chrono::seconds>(now);
  const auto last = end - end.time_since_epoch() % length;  // where the newest piece begins
  const auto first = last - (kPieces - 1) * length;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  PrefixView wanted(view, size, request.wanted);
  SALLYPORT_TRY(const RecentCounts::Minutes minutes,
                counts.since(wanted, first, by == "kind" ? Facet::Kind : Facet::Outcome));
  json::array all;
  for (int i = 0; i < kPieces; ++i) {
    const auto begin = first + i * length;
    RecentCounts::Counts sums;
    for (auto it = minutes.lower_bound(begin); it != minutes.lower_bound(begin + length); ++it) {
      for (const auto& [value, count] : it->second) sums[value] += count;
    }
    json::object shown;
    for (const auto& [value, count] : sums) shown[value] = count;
    all.push_back(json::object{{"at", rfc3339(WallTime(begin))}, {"counts", std::move(shown)}});
  }
  return json::object{{"bucket", name}, {"by", by}, {"pieces", std::move(all)}};
}

constexpr const char* kNote = "text/plain; charset=utf-8";  // and lines of an export

Result<api::Response> checkpoint(ledger::ReadView& view, const api::Request&) {
  SALLYPORT_TRY(const ledger::ReadView::Head head, view.head());
  if (head.checkpoint.empty()) return fail(ErrorCode::NotFound, "the log has no entry yet");
  SALLYPORT_TRY(std::string note, ledger::with_cosignatures(view, head.size, head.checkpoint));
  return api::Response{.text = std::move(note), .type = kNote};
}

Result<api::Response> checkpoint_at(ledger::ReadView& view, const api::Request& request) {
  SALLYPORT_TRY(const std::uint64_t size, count_from(request.at("size"), "size"));
  std::optional<ledger::StoredEntry> last;
  if (size > 0) {
    SALLYPORT_TRY(last, view.entry(size - 1));
  }
  if (last && !last->checkpoint.empty()) {
    SALLYPORT_TRY(std::string note, ledger::with_cosignatures(view, size, last->checkpoint));
    return api::Response{.text = std::move(note), .type = kNote};
  }
  SALLYPORT_TRY(const ledger::SignedNear found, ledger::signed_near(view, size));
  json::array near;
  if (found.before) near.emplace_back(*found.before);
  if (found.after) near.emplace_back(*found.after);
  const api::Problem problem{404,
                             "not_found",
                             fmt::format("no checkpoint was signed at size {}", size),
                             "size",
                             {{"neighbours", std::move(near)}}};
  return api::Response{
      .status = 404, .body = problem.to_json(), .type = "application/problem+json"};
}

// Entries in a bundle are as they were signed: nothing sealed is open in them, for no role.
Result<api::Response> tile(ledger::ReadView& view, const api::Request& request) {
  const std::string path = "tile/" + request.at("path");
  SALLYPORT_TRY(std::optional<std::string> bytes, ledger::read_tile(view, path));
  if (!bytes) return fail(ErrorCode::NotFound, fmt::format("there is no `{:.80}`", path));
  return api::Response{.text = std::move(*bytes), .type = "application/octet-stream"};
}

Result<api::Response> proof(ledger::ReadView& view, const api::Request& request) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_TRY(const auto from, request.query.number("from", 1, size));
  SALLYPORT_TRY(const auto to, request.query.number("to", 1, size));
  if (!from || !to || *from > *to) {
    return fail(ErrorCode::InvalidInput, fmt::format("0 < `from` <= `to` <= {}", size), "from");
  }
  SALLYPORT_TRY(const ledger::Proof hashes,
                ledger::consistency_proof(*from, *to, ledger::subtree_hash(view)));
  json::array all;
  for (const Hash& hash : hashes) all.emplace_back(base64(hash));
  return api::Response{
      .body = json::object{{"old_size", *from}, {"new_size", *to}, {"proof", std::move(all)}}};
}

// A part of the JSON Lines of `ledger export`.
Result<std::string> exported(ledger::ReadView& view, const api::Request& request) {
  constexpr std::uint64_t kMostEntries = 5000;
  constexpr std::size_t kEnoughBytes = 4u << 20;
  constexpr std::size_t kMostBytes = 64u << 20;  // a commit is given whole
  SALLYPORT_TRY(const auto after, request.query.number("after", 0, (1ull << 53) - 1));
  SALLYPORT_TRY(const auto limit, request.query.number("limit", 1, kMostEntries));
  std::string text;
  const ledger::Line line = [&](std::string_view one) -> Result<void> {
    if (text.size() + one.size() > kMostBytes) {
      return fail(ErrorCode::Exhausted,
                  "the entries of one commit are too large for one answer; use `ledger export`");
    }
    if (!request.wanted()) return fail(ErrorCode::Cancelled, "the caller no longer waits");
    text.append(one).push_back('\n');
    return {};
  };
  const ledger::ExportPart part{.after = after,
                                .entries = limit.value_or(1000),
                                .bytes = kEnoughBytes,
                                .with_openings = request.person.roles.has(Role::Auditor)};
  SALLYPORT_CHECK_OK(ledger::export_part(view, part, line));
  return text;
}

Result<api::Response> keys(ledger::ReadView& view, const api::Request&) {
  SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> history, ledger::key_history(view));
  json::array all;
  for (const ledger::KeyPeriod& period : history) {
    all.push_back(json::object{
        {"key", period.key.text()},
        {"first_size", period.first_size},
        {"last_size", period.last_size ? json::value(*period.last_size) : json::value()},
        {"compromised", period.compromised}});
  }
  return api::Response{.body = json::object{{"keys", std::move(all)}}};
}

Result<GapList> gaps_in(ledger::ReadView& view, const api::Request& request) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  PrefixView wanted(view, size, request.wanted);
  return find_gaps(wanted);
}

Result<api::Response> gaps(ledger::ReadView& view, const api::Request& request) {
  SALLYPORT_TRY(const GapList found, gaps_in(view, request));
  return api::Response{.body =
                           json::object{{"gaps", found.to_json()}, {"left_out", found.left_out()}}};
}

Result<api::Response> intervals(ledger::ReadView& view, const api::Request& request) {
  const std::string kind = request.query.get("kind").value_or("fail_open");
  const std::vector<std::string> known = gap_kinds();
  if (std::ranges::find(known, kind) == known.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("there is no kind `{:.80}`{}; one of {}", kind,
                            did_you_mean(kind, known), fmt::join(known, ", ")),
                "kind");
  }
  SALLYPORT_TRY(const GapList found, gaps_in(view, request));
  json::array all;
  for (const Gap& gap : found.gaps()) {
    if (to_string(gap.kind) == kind) all.push_back(gap.to_json());
  }
  return api::Response{.body = json::object{{"intervals", std::move(all)}}};
}

}  // namespace

Result<api::Response> RecordsApi::show_stats(ledger::ReadView& view, const Request& request) {
  json::object body;
  if (request.query.get("bucket")) {
    SALLYPORT_TRY(body, lately(recent_, view, request, parts_.clock.wall()));
  } else if (request.query.get("by")) {
    return fail(ErrorCode::InvalidInput, "`by` is for `bucket`, which is missing", "by");
  } else {
    SALLYPORT_TRY(LedgerCounts counts, ledger_counts(view, parts_.ledger_file));
    SALLYPORT_TRY(body, frequent(view, std::move(counts)));
  }
  return api::Response{.body = std::move(body)};
}

namespace {

api::Route log_route(const char* pattern, api::Read handler, api::Words words) {
  return {.method = "GET",
          .pattern = pattern,
          .roles = {Role::Viewer},
          .handler = std::move(handler),
          .words = std::move(words)};
}

}  // namespace

void RecordsApi::add_log(api::HttpApi& api) {
  add_counts(api);
  add_published(api);
  add_checks(api);
}

void RecordsApi::add_counts(api::HttpApi& api) {
  api.add(
      log_route("facets", on_view(facets),
                {.name = "countFacet",
                 .summary = "Counts each value of a field in the log",
                 .query = {{"field", "agent, kind, outcome, server, tool, topic, session or run",
                            schema::text()}},
                 .response = schema::object(
                     {{"field", schema::text()}, {"values", schema::list(schema::object())}})}));
  const Look stats = [this](ledger::ReadView& view, const Request& request) {
    return show_stats(view, request);
  };
  api.add(log_route(
      "stats", on_view(stats),
      {.name = "showStats",
       .summary =
           "Counts entries as `ledger stats` does, or with `bucket` the newest entries by interval",
       .query = {{"bucket",
                  "length of an interval: 1m, 1h or 1d; the newest 60 intervals are counted",
                  schema::text()},
                 {"by", "outcome or kind [outcome]", schema::text()}},
       .response = schema::object()}));
}

// What others need to check the log by themselves.
void RecordsApi::add_published(api::HttpApi& api) {
  api.add(log_route("log/checkpoint", on_view(checkpoint),
                    {.name = "newestCheckpoint",
                     .summary = "Returns the newest signed checkpoint",
                     .response = schema::text(),
                     .type = "text/plain"}));
  api.add(log_route("log/checkpoint/{size}", on_view(checkpoint_at),
                    {.name = "checkpointAt",
                     .summary = "Returns the checkpoint of a size",
                     .response = schema::text(),
                     .type = "text/plain"}));
  api.add(log_route("log/tile/{path...}", on_view(tile),
                    {.name = "logTile",
                     .summary = "Returns a tile of hashes or a bundle of entries (C2SP tlog-tiles)",
                     .response = json::object{{"type", "string"}, {"format", "binary"}},
                     .type = "application/octet-stream"}));
  const Look export_log = [this](ledger::ReadView& view,
                                 const Request& request) -> Result<api::Response> {
    SALLYPORT_TRY(std::string text, exported(view, request));
    if (request.person.roles.has(Role::Auditor)) SALLYPORT_CHECK_OK(note(request, "log/export"));
    return api::Response{.text = std::move(text), .type = kNote};
  };
  api.add(log_route("log/export", on_view(export_log),
                    {.name = "exportLog",
                     .summary = "Returns a part of `ledger export`, up to a signed checkpoint; "
                                "only auditors get the content",
                     .query = {{"after", "only entries after this sequence", schema::number()},
                               {"limit", "about how many, 1 to 5000 [1000]", schema::number()}},
                     .response = schema::text(),
                     .type = "text/plain"}));
}

void RecordsApi::add_checks(api::HttpApi& api) {
  api.add(log_route("log/proof", on_view(proof),
                    {.name = "consistencyProof",
                     .summary = "Returns a proof that the log only grew between two sizes",
                     .query = {{"from", "the older size", schema::number()},
                               {"to", "the newer size", schema::number()}},
                     .response = schema::object({{"old_size", schema::number()},
                                                 {"new_size", schema::number()},
                                                 {"proof", schema::list(schema::text())}})}));
  api.add(log_route("log/keys", on_view(keys),
                    {.name = "listKeys",
                     .summary = "Lists every verifier key that this log ever had",
                     .response = schema::object({{"keys", schema::list(schema::object())}})}));
  api.add(log_route("log/gaps", on_view(gaps),
                    {.name = "listGaps",
                     .summary = "Lists what `ledger verify --gaps` finds",
                     .response = schema::object({{"gaps", schema::list(schema::object())},
                                                 {"left_out", schema::number()}})}));
  api.add(log_route(
      "intervals", on_view(intervals),
      {.name = "listIntervals",
       .summary = "Lists the times in which something was wrong, such as a guard that failed open",
       .query = {{"kind", fmt::format("{} [fail_open]", fmt::join(gap_kinds(), ", ")),
                  schema::text()}},
       .response = schema::object({{"intervals", schema::list(schema::object())}})}));
}

}  // namespace sallyport::app
