// The chain of trust records as a whole: checked, and handed out in the form that others read.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <iostream>

#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/proof/key_history.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "people/registered_reviewers.h"
#include "records/selection.h"
#include "records/trust_records.h"
#include "terminal/input.h"
#include "terminal/output.h"
#include "trust/chain_file.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

struct TrustExportOptions {
  std::optional<std::string> limit;
  std::optional<std::filesystem::path> out;
  std::vector<std::filesystem::path> reviewers;
};

struct TrustVerifyOptions {
  std::optional<std::filesystem::path> file;
  std::vector<std::filesystem::path> reviewers;
  std::optional<std::string> origin;
};

Result<std::string> origin_of(ledger::ReadView& view) {
  SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> keys, ledger::key_history(view));
  return keys.empty() ? std::string() : keys.front().key.name;
}

// True if entries before the first trust record that is left were pruned.
Result<bool> begins_after_prune(ledger::ReadView& view) {
  std::uint64_t first = 0;
  const ledger::Filter trust{.facets = {{ledger::Facet::Kind, "trust"}}};
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, trust,
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        first = stored.sequence;
        return false;
      }));
  bool pruned = false;
  SALLYPORT_CHECK_OK(view.scan(0, first, [&](const ledger::StoredEntry& stored) -> Result<bool> {
    pruned = !stored.bytes;
    return !pruned;
  }));
  return pruned;
}

// Of the first `most` records.
Result<trust::ChainReport> check_ledger(ledger::ReadView& view, const trust::Reviewers& reviewers,
                                        std::uint64_t most) {
  SALLYPORT_TRY(std::string origin, origin_of(view));
  SALLYPORT_TRY(const bool after_prune, begins_after_prune(view));
  trust::ChainVerifier verifier({.ours = true,
                                 .after_prune = after_prune,
                                 .reviewers = &reviewers,
                                 .origin = std::move(origin)});
  std::uint64_t seen = 0;
  if (most > 0) {
    SALLYPORT_CHECK_OK(each_trust_text(view, [&](std::string_view text) -> Result<bool> {
      verifier.take(text);
      return ++seen < most;
    }));
  }
  return verifier.finish();
}

Result<trust::ChainReport> check_file(const Context& context, const TrustVerifyOptions& options) {
  trust::ChainVerifier::Rules rules{.origin = options.origin.value_or("")};
  std::optional<trust::Reviewers> reviewers;
  // Without both it cannot be said who signed what.
  if (!options.reviewers.empty() && options.origin) {
    SALLYPORT_TRY(reviewers, reviewers_for_file(context, options.reviewers));
    rules.reviewers = &*reviewers;
  }
  if (*options.file == "-") return trust::verify_chain_file(std::cin, rules);
  SALLYPORT_CHECK_OK(refuse_folder(*options.file));
  std::ifstream in(*options.file, std::ios::binary);
  if (!in) return fail(ErrorCode::NotFound, "there is no such file", options.file->string());
  return trust::verify_chain_file(in, rules);
}

void print_chain_report(const Context& context, const trust::ChainReport& report) {
  if (context.json()) return print_line(visible_json(canonical_json(to_json(report))));
  print_line(fmt::format("{} {} records on {}, root {}", context.terminal.mark(report.verified),
                         report.total, visible(report.topic),
                         visible(report.root_hash.value_or("none"))));
  for (const std::string& error : report.errors) print_line("  " + visible(error));
  for (const std::string& warning : report.warnings) print_line("  warning: " + visible(warning));
}

Result<int> trust_verify(const Context& context, const TrustVerifyOptions& options) {
  if (options.origin && !options.file) {
    return fail(ErrorCode::InvalidInput,
                "--origin names the log of a document; name the FILE too, or leave it out");
  }
  trust::ChainReport report;
  if (options.file) {
    SALLYPORT_TRY(report, check_file(context, options));
  } else {
    SALLYPORT_TRY(const trust::Reviewers reviewers,
                  reviewers_of_all_times(context, options.reviewers));
    SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
    SALLYPORT_TRY(report, ledger::look_at(workspace->store(), [&](ledger::ReadView& view) {
                    return check_ledger(view, reviewers, UINT64_MAX);
                  }));
  }
  print_chain_report(context, report);
  return report.verified ? 0 : 1;
}

Result<int> trust_export(const Context& context, const TrustExportOptions& options) {
  std::uint64_t most = UINT64_MAX;
  if (options.limit) {
    SALLYPORT_TRY(most, count_from(*options.limit, "--limit"));
  }
  SALLYPORT_TRY(const trust::Reviewers reviewers,
                reviewers_of_all_times(context, options.reviewers));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::unique_ptr<Output> out, Output::open(options.out));
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const trust::ChainReport report, check_ledger(view, reviewers, most));
    if (report.pruned > 0) {
      fmt::print(stderr,
                 "sallyport: the first {} records were pruned, so the document does not verify by "
                 "itself; keep the exports from before\n",
                 report.pruned);
    }
    SALLYPORT_CHECK_OK(out->write(
        trust::chain_begin({.total = report.total,
                            .root_hash = report.root_hash,
                            .verified = report.verified && report.pruned == 0,
                            .generated_at = trust::whole_seconds(workspace->clock().wall()),
                            .producer_version = std::string(version())})));
    std::uint64_t left = report.total;
    if (left > 0) {
      SALLYPORT_CHECK_OK(each_trust_text(view, [&](std::string_view text) -> Result<bool> {
        SALLYPORT_CHECK_OK(out->write(text));
        if (--left > 0) SALLYPORT_CHECK_OK(out->write(","));
        return left > 0;
      }));
    }
    return out->write(trust::kChainEnd);
  }));
  SALLYPORT_CHECK_OK(out->finish());
  return 0;
}

const Command kTrustExport("trust export", "export the chain (OpenTrustGraph v0)", trust_export,
                           [](Syntax& syntax, TrustExportOptions& options) {
                             syntax.text("--limit", options.limit,
                                         "only this many records, from the first", "N");
                             syntax.file("--out", options.out, "file to write [standard output]");
                             believed_reviewers(syntax, options.reviewers);
                           });

const Command kTrustVerify("trust verify", "check the chain: hashes, links and signatures",
                           trust_verify, [](Syntax& syntax, TrustVerifyOptions& options) {
                             syntax.file("file", options.file,
                                         "a chain document instead of the ledger");
                             believed_reviewers(syntax, options.reviewers);
                             syntax.text("--origin", options.origin,
                                         "name of the log that a document came from", "NAME");
                           });

}  // namespace

}  // namespace sallyport::app
