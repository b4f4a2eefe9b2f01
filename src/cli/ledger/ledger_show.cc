#include <fmt/format.h>

#include "base/encoding.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "records/entry_text.h"
#include "records/selection.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ShowOptions {
  std::optional<std::string> target;
  std::optional<std::string> limit;
  FilterOptions filter;
};

// Prints as it reads: only the first entry waits, because a lone one gets a page of its own.
class Listing {
 public:
  explicit Listing(const Context& context) : context_(context) {}

  Result<bool> add(const ledger::StoredEntry& stored) {
    SALLYPORT_TRY(OpenedEntry entry, open_entry(stored));
    if (context_.json()) {
      print_line(entry_json(entry));
    } else if (count_ == 0) {
      first_ = std::move(entry);
    } else {
      if (count_ == 1) begin();
      print_line(entry_line(entry, context_.terminal));
    }
    ++count_;
    return true;
  }

  Result<void> finish(const std::optional<Target>& target, const FilterOptions& filter) {
    if (count_ == 0) {
      return std::unexpected(target ? nothing_found(*target) : nothing_found(filter));
    }
    if (count_ == 1 && !context_.json()) print_line(entry_page(first_, context_.terminal));
    return {};
  }

 private:
  void begin() {
    print_line(entry_line_header(context_.terminal));
    print_line(entry_line(first_, context_.terminal));
  }

  const Context& context_;
  OpenedEntry first_;
  std::uint64_t count_ = 0;
};

bool covers(const ledger::Filter& filter, const ledger::StoredEntry& stored) {
  return filter.facets.empty() && !filter.since && !filter.until &&
         (!filter.after || stored.sequence > *filter.after);
}

Result<int> show_pruned(const Context& context, const ledger::StoredEntry& stored) {
  const std::string leaf = base64(stored.leaf);
  if (context.json()) {
    print_line(fmt::format(R"({{"leaf":"{}","sequence":{}}})", leaf, stored.sequence));
  } else {
    print_line(fmt::format("entry {}\n  pruned        its bytes are gone, its leaf hash is {}",
                           stored.sequence, leaf));
  }
  return 0;
}

Result<int> ledger_show(const Context& context, const ShowOptions& options) {
  SALLYPORT_TRY(ledger::Filter filter, filter_from(options.filter));
  if (options.limit) {
    SALLYPORT_TRY(filter.limit, limit_from(*options.limit, "-n"));
  }
  std::optional<Target> target;
  if (options.target) {
    SALLYPORT_TRY(target, target_from(*options.target));
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  Listing listing(context);
  int code = 0;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(complete_call(view, filter));
    if (target && !target->sequence) {
      SALLYPORT_TRY(const std::string whole, whole_call_id(view, target->text));
      SALLYPORT_TRY(target, target_from(whole));
    }
    if (target) {
      SALLYPORT_TRY(const std::optional<ledger::StoredEntry> one, find_target(view, *target));
      if (one && !one->bytes && covers(filter, *one)) {
        SALLYPORT_TRY(code, show_pruned(context, *one));
        return {};
      }
      if (one && one->bytes) {
        SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*one->bytes));
        filter.id = entry.id;
      } else if (target->sequence) {
        SALLYPORT_TRY(const std::uint64_t size, view.size());
        return fail(ErrorCode::NotFound,
                    fmt::format("there is no entry {}; the ledger has {} entries",
                                *target->sequence, size));
      } else if (!filter.facets.emplace(ledger::Facet::Call, target->text).second) {
        return fail(ErrorCode::InvalidInput, "two calls are named; give one, or --call alone");
      }
    }
    SALLYPORT_CHECK_OK(ledger::find_entries(
        view, filter, [&](const ledger::StoredEntry& stored, const ledger::EntryView&) {
          return listing.add(stored);
        }));
    return listing.finish(target, options.filter);
  }));
  return code;
}

const Command kLedgerShow("ledger show", "list matching entries, or show one in full", ledger_show,
                          [](Syntax& syntax, ShowOptions& options) {
                            syntax.text("target", options.target,
                                        "id or sequence of an entry, or id of a call",
                                        "ID|CALL|SEQUENCE");
                            syntax.text("-n,--limit", options.limit, "maximum number of entries",
                                        "N");
                            filter_options(syntax, options.filter);
                          });

}  // namespace

}  // namespace sallyport::app
