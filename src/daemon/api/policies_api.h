// Policies over HTTP: those that were in force, their texts by hash, schemas, checks, tests, drafts
// and activation (CO-59, CO-61, CO-62).
#pragma once

#include "api/http_api.h"
#include "daemon/api/opened_content.h"
#include "daemon/api/policy_desk.h"
#include "workspace/context.h"

namespace sallyport::app {

// All parts must outlive it.
class PoliciesApi {
 public:
  struct Parts {
    Gate& gate;
    const Environment& environment;
    OpenedContent& opened;
    PolicyDesk& desk;
  };
  explicit PoliciesApi(Parts parts) : parts_(parts) {}

  void add_to(api::HttpApi& api);

 private:
  using Work = Result<api::Response> (PoliciesApi::*)(const api::Request&) const;
  api::Read read(Work work) const;
  // Used on a thread that may block.
  api::Act act(Work work) const;
  void add_reads(api::HttpApi& api) const;
  void add_writes(api::HttpApi& api) const;

  Result<api::Response> list(const api::Request& request) const;
  Result<api::Response> show(const api::Request& request) const;
  Result<api::Response> show_draft(const api::Request& request) const;
  Result<api::Response> check(const api::Request& request) const;
  Result<api::Response> test(const api::Request& request) const;
  Result<api::Response> keep(const api::Request& request) const;
  Task<api::Response> activate(api::Request request) const;

  Parts parts_;
  api::Readers* readers_ = nullptr;
};

}  // namespace sallyport::app
