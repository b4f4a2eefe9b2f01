// Pinned tools over HTTP: what is pinned, what has changed, and accepting a change that was seen.
#pragma once

#include "api/http_api.h"
#include "daemon/api/opened_content.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// All parts must outlive it.
class PinsApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    core::RecordLog& records;  // the ledger, counted
    OpenedContent& opened;
  };
  explicit PinsApi(Parts parts) : parts_(parts) {}

  void add_to(api::HttpApi& api);

 private:
  Result<api::Response> list(ledger::ReadView& view, const api::Request& request) const;
  Result<api::Response> show(const api::Request& request) const;
  Task<api::Response> accept(api::Request request) const;

  Parts parts_;
  api::Readers* readers_ = nullptr;
};

}  // namespace sallyport::app
