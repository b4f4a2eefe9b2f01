// Prints the trust graph of agents: scores, records, records by trace.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>

#include "base/try.h"
#include "cli/command.h"
#include "cli/trust/tier_named.h"
#include "ledger/entry/trust_link.h"
#include "ledger/read/store_reader.h"
#include "people/registered_reviewers.h"
#include "records/agent_trust.h"
#include "records/selection.h"
#include "records/trust_records.h"
#include "terminal/output.h"
#include "trust/approver_book.h"
#include "trust/score.h"
#include "trust/standing.h"
#include "trust/trust_query.h"

namespace sallyport::app {

namespace {

struct TrustShowOptions {
  std::optional<std::string> agent;
  std::optional<std::string> action;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> tier;
  std::optional<std::string> outcome;
  std::optional<std::string> limit;
  std::optional<std::filesystem::path> file;
  std::optional<std::string> declared;  // nothing: as the policy in force says
  bool records = false;
  bool by_trace = false;
};

Result<trust::TrustQuery> query_from(const TrustShowOptions& options) {
  trust::TrustQuery query{.agent = options.agent, .action = options.action};
  SALLYPORT_TRY(
      const ledger::Filter times,
      filter_from({.agent = options.agent, .since = options.since, .until = options.until}));
  if (options.action == "") {
    return fail(ErrorCode::InvalidInput, "--action is empty; name an action, or leave it out");
  }
  query.since = times.since;
  query.until = times.until;
  if (options.tier) {
    SALLYPORT_TRY(query.tier, tier_named(*options.tier, "--tier"));
  }
  if (options.outcome) {
    query.outcome = trust::outcome_from(*options.outcome);
    if (!query.outcome) {
      return fail(ErrorCode::InvalidInput, "--outcome is one of success, failure, denied, timeout");
    }
  }
  if (options.limit) {
    SALLYPORT_TRY(query.limit, limit_from(*options.limit, "--limit"));
  }
  return query;
}

struct Found {
  std::vector<trust::TrustRecord> records;
  std::map<std::string, trust::ScoreKeeper> scores;
  std::map<std::string, trust::Standing> standings;
  DeclaredTiers declared;
};

class Finder {
 public:
  Finder(const TrustShowOptions& options, trust::TrustQuery query)
      : options_(options), selection_(std::move(query)) {}

  void take(trust::TrustRecord record) {
    if (!options_.agent || record.agent == *options_.agent) {
      const auto [keeper, fresh] = found_.scores.try_emplace(
          record.agent, trust::ScoreKeeper(record.agent, options_.action));
      keeper->second.take(record);
      (void)fresh;
    }
    selection_.take(std::move(record));
  }

  // The counts of all records, also of those that were pruned.
  void take_whole(const std::string& agent, const trust::Tally& whole) {
    found_.scores.try_emplace(agent, trust::ScoreKeeper(agent, options_.action))
        .first->second.take_whole(whole);
  }

  Found found() && {
    found_.records = std::move(selection_).records();
    if (options_.agent)
      found_.scores.try_emplace(*options_.agent, *options_.agent, options_.action);
    return std::move(found_);
  }

 private:
  const TrustShowOptions& options_;
  trust::TrustSelection selection_;
  Found found_;
};

Result<Found> look(const Context& context, const TrustShowOptions& options,
                   trust::TrustQuery query) {
  Finder finder(options, std::move(query));
  const OnTrustRecord take = [&](trust::TrustRecord record) { finder.take(std::move(record)); };
  if (options.file) {
    SALLYPORT_CHECK_OK(each_trust_record(*options.file, take));
    return std::move(finder).found();
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_CHECK_OK(workspace->store().read(
      [&](ledger::ReadView& view) { return each_trust_record(view, take); }));
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto tallies, tallies_of(records, options.agent));
  for (const auto& [agent, whole] : tallies) finder.take_whole(agent, whole);
  Found found = std::move(finder).found();
  SALLYPORT_TRY(found.declared, DeclaredTiers::read(records));
  SALLYPORT_TRY(trust::Reviewers reviewers, registered_reviewers(context));
  const trust::ApproverBook people(std::move(reviewers));
  for (const auto& [agent, keeper] : found.scores) {
    SALLYPORT_TRY(found.standings[agent], trust::standing_of(records, agent, &people));
  }
  return found;
}

void print_record(const Context& context, const trust::TrustRecord& record) {
  if (context.json()) return print_line(visible_json(ledger::trust_record_text(to_json(record))));
  print_line(fmt::format("{:>8}  {}  {}  {} {}  {}{}", record.chain_index, record.timestamp,
                         fitted(to_string(record.outcome), 8), visible(record.agent),
                         visible(record.action), to_string(record.autonomy_tier),
                         record.approver ? ", by " + visible(*record.approver) : ""));
}

void print_traces(const Context& context, std::vector<trust::TrustRecord> records) {
  for (const trust::TrustTrace& trace : trust::by_trace(std::move(records))) {
    if (!context.json()) {
      print_line(visible(trace.trace_id));
      for (const trust::TrustRecord& record : trace.records) print_record(context, record);
      continue;
    }
    std::string list;
    for (const trust::TrustRecord& record : trace.records) {
      list += (list.empty() ? "" : ",") + ledger::trust_record_text(to_json(record));
    }
    std::string line = R"({"records":[)" + list + R"(],"trace_id":)";
    append_canonical_string(line, trace.trace_id);
    print_line(visible_json(line + '}'));
  }
}

void print_score(const Context& context, const trust::TrustScore& score, const AgentTier& tier) {
  if (context.json()) return print_line(visible_json(canonical_json(to_json(score))));
  print_line(fmt::format(
      "{}  {} ({})  level {}", context.terminal.paint(Paint::Strong, visible(score.agent)),
      to_string(score.effective_tier), tier.source, trust::to_string(score.level)));
  print_line(fmt::format("  {} records: {} success, {} failure, {} denied, {} timeout, {} withheld",
                         score.total, score.successes, score.failures, score.denied, score.timeouts,
                         score.withheld));
}

Result<int> trust_show(const Context& context, const TrustShowOptions& options) {
  SALLYPORT_TRY(trust::TrustQuery query, query_from(options));
  SALLYPORT_TRY(Found found, look(context, options, std::move(query)));
  if (options.declared) {
    SALLYPORT_TRY(const Autonomy declared, tier_named(*options.declared, "--declared"));
    found.declared = DeclaredTiers::fixed(declared);
  }
  if (options.by_trace) {
    print_traces(context, std::move(found.records));
    return 0;
  }
  if (options.records) {
    for (const trust::TrustRecord& record : found.records) print_record(context, record);
    return 0;
  }
  if (found.scores.empty() && !context.json()) print_line("no agent has a trust record yet");
  for (const auto& [agent, keeper] : found.scores) {
    const AgentTier tier = tier_of(found.standings[agent], found.declared.of(agent));
    print_score(context, keeper.score(tier.tier), tier);
  }
  return 0;
}

const Command kTrustShow(
    "trust show", "show the trust record of an agent", trust_show,
    [](Syntax& syntax, TrustShowOptions& options) {
      syntax.text("agent", options.agent, "the agent [all]", "AGENT");
      syntax.flag("--records", options.records, "show records instead of the score");
      syntax.flag("--by-trace", options.by_trace, "show records, trace by trace");
      syntax.text("--action", options.action, "only of this action", "ACTION");
      syntax.text("--since", options.since, "records not before this time", "TIME");
      syntax.text("--until", options.until, "records before this time", "TIME");
      syntax.text("--tier", options.tier, "records under this tier").choices(tier_words());
      syntax.text("--outcome", options.outcome, "records with this outcome")
          .choices({"success", "failure", "denied", "timeout"});
      syntax.text("--limit", options.limit, "the newest records, this many [1000]", "N");
      syntax.file("--file", options.file, "a chain document instead of the ledger");
      syntax
          .text("--declared", options.declared,
                "tier of an agent that was never promoted or demoted [as the policy says]")
          .choices(tier_words());
    });

}  // namespace

}  // namespace sallyport::app
