// The approvals over HTTP (AP-30): what waits, answers to it, and a stream of what happens. For
// people with a token; whoever can call tools has no business here.
#pragma once

#include <functional>

#include "app/approval_items.h"
#include "core/governor.h"
#include "ledger/ledger.h"
#include "net/http_server.h"
#include "trust/control.h"

namespace sallyport::app {

// On the context of the server that it is a handler of.
class ApprovalsApi final : public net::HttpHandler {
 public:
  static constexpr const char* kPath = "/api/v1/approvals";

  struct Parts {
    ledger::Ledger& ledger;
    core::Governor& governor;
    const Clock& clock;
    std::function<Result<std::shared_ptr<const trust::Reviewers>>()> people;  // of now
    std::function<bool()> stopping;
  };
  explicit ApprovalsApi(Parts parts) : parts_(std::move(parts)) {}

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;

 private:
  // What stands behind the path: nothing, an id, or an id and a verb.
  struct Asked {
    std::string id;
    std::string verb;
  };
  static Asked asked_in(const net::ServerRequest& request);
  // `Unauthenticated`: nobody is known by that token; with the cause `role`: not as approver.
  Result<trust::Reviewer> person_of(const net::ServerRequest& request) const;

  Result<json::value> list(const net::ServerRequest& request) const;
  Result<json::value> show(const std::string& id, const net::ServerRequest& request) const;
  Task<json::value> take(Asked asked, const net::ServerRequest& request);
  Task<json::value> respond(std::string id, json::value body, trust::Reviewer person);
  static Result<void> check_seen(const ApprovalItem& item);
  Result<void> check_haste(const std::string& person) const;
  Task<json::value> answer(std::string id, json::object body, trust::Reviewer person);
  Task<json::value> batch(json::value body, trust::Reviewer person);
  Async<void> stream(net::ServerExchange& exchange);

  static constexpr std::size_t kMostStreams = 64;
  Parts parts_;
  std::size_t streams_ = 0;
};

}  // namespace sallyport::app
