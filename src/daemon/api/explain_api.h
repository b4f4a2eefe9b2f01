// Why calls ran or did not, over HTTP: what `policy explain --json` says (CO-47).
#pragma once

#include "api/http_api.h"
#include "daemon/api/opened_content.h"
#include "ledger/ledger.h"
#include "workbench/explaining.h"
#include "workspace/context.h"

namespace sallyport::app {

// All parts must outlive it.
class ExplainApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    const Workspace::Place& place;
    const Environment& environment;
    OpenedContent& opened;
  };
  explicit ExplainApi(Parts parts) : parts_(parts) {}

  void add_to(api::HttpApi& api);
  // The scene for explanations of this server.
  ExplainScene scene() const;

 private:
  Result<api::Response> explain_recorded(const api::Request& request) const;
  Result<api::Response> explain_given(const api::Request& request) const;

  Parts parts_;
};

}  // namespace sallyport::app
