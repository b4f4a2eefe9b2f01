// Agents over HTTP: their trust records, what these suggest, and signed changes of a tier.
#pragma once

#include <functional>

#include "api/http_api.h"
#include "ledger/ledger.h"
#include "policy/reviewer_file.h"
#include "records/agent_trust.h"

namespace sallyport::app {

// All parts must outlive it.
class AgentsApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    const Clock& clock;
    Entropy& entropy;
    std::function<Result<policy::ReviewerFile::List>()> people;
  };
  explicit AgentsApi(Parts parts) : parts_(std::move(parts)) {}

  void add_to(api::HttpApi& api);

 private:
  using Request = api::Request;
  using Agents = std::map<std::string, AgentTrust>;

  Result<Agents> agents(ledger::ReadView& view, const Request& request,
                        std::optional<std::string> only) const;
  Result<AgentTrust> agent(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> list(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> show(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> trust_of(ledger::ReadView& view, const Request& request) const;
  Result<api::Response> proposals(ledger::ReadView& view, const Request& request) const;
  // On a thread that may wait: what is checked and what is written are one transaction.
  Result<api::Response> change(const Request& request) const;

  Parts parts_;
};

}  // namespace sallyport::app
