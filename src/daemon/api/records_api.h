// Calls, entries, their proofs and the log over HTTP. Reads only, on threads that may block.
#pragma once

#include <filesystem>

#include "api/http_api.h"
#include "daemon/api/opened_content.h"
#include "ledger/ledger.h"
#include "records/recent_calls.h"
#include "records/recent_counts.h"
#include "records/record_rows.h"

namespace sallyport::app {

// All parts must outlive it.
class RecordsApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    OpenedContent& opened;
    const Clock& clock;
    std::filesystem::path ledger_file;
  };
  explicit RecordsApi(Parts parts) : parts_(std::move(parts)) {}

  void add_to(api::HttpApi& api);

 private:
  using Request = api::Request;
  using Look = std::function<Result<api::Response>(ledger::ReadView&, const Request&)>;
  // One snapshot for each request.
  api::Read on_view(Look look) const;
  void add_calls(api::HttpApi& api);
  void add_entries(api::HttpApi& api);
  void add_log(api::HttpApi& api);
  void add_counts(api::HttpApi& api);
  void add_published(api::HttpApi& api);
  void add_checks(api::HttpApi& api);

  Result<api::Response> list_calls(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> show_call(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> show_entry(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> receipt(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> receipts(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> openings(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> show_stats(ledger::ReadView& view, const Request& request);
  Result<void> note(const Request& request, const std::string& what) const;

  Parts parts_;
  mutable CallRows calls_;
  mutable RecentCalls recent_calls_;
  RecentCounts recent_;
};

}  // namespace sallyport::app
