// The approvals over HTTP: open questions, answers to them, and a stream of events. For people with
// a session or a token; tokens of agents are refused (AP-30).
#pragma once

#include <functional>
#include <map>

#include "api/http_api.h"
#include "base/guarded.h"
#include "core/call/governor.h"
#include "daemon/api/log_size.h"
#include "daemon/api/opened_content.h"
#include "ledger/ledger.h"
#include "people/approval_desk.h"
#include "people/approval_items.h"
#include "people/approval_views.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

// On the context of the server; reads run on its readers. All parts must outlive it.
class ApprovalsApi {
 public:
  static constexpr const char* kPath = "/api/v1/approvals";

  struct Parts {
    ledger::Ledger& ledger;
    core::Governor& governor;
    const Clock& clock;
    OpenedContent& opened;
    LogSize& size;
    // The current list. Called on any thread.
    std::function<Result<policy::ReviewerFile::List>()> people;
    std::function<bool()> stopping;
    StrongQuestions strong{};
  };
  explicit ApprovalsApi(Parts parts)
      : parts_(std::move(parts)),
        desk_({parts_.governor.approvals(), parts_.ledger, parts_.clock}) {}

  void add_to(api::HttpApi& api);

 private:
  using Request = api::Request;
  void add_reads(api::HttpApi& api);
  void add_writes(api::HttpApi& api);

  Result<api::Response> list(const Request& request) const;
  Result<api::Response> show(const Request& request) const;
  Result<void> add_views(json::object& shown, const ApprovalItem& item,
                         const Request& request) const;
  Result<bool> shown_own_look(const ApprovalItem& item) const;
  json::value tier_json(const std::string& agent) const;
  Result<json::object> detail_json(ApprovalItem item, const Request& request) const;

  // The parts of an answer that `item_to_answer` checks before the answer is given.
  struct Given {
    bool yes = false;
    bool names_binding = true;
    bool in_batch = false;
    std::string responded_at{};
    std::string signature{};  // empty: none
  };
  Task<ApprovalItem> item_to_answer(std::string id, api::Person person, Given given);
  Task<json::value> respond(std::string id, json::value body, api::Person person, bool in_batch);
  Task<json::value> answer(std::string id, json::object body, api::Person person, bool in_batch);
  Task<json::value> batch(Request request);
  Task<json::value> escalate(Request request);
  Task<json::value> cancel(Request request);
  Async<void> stream(net::ServerExchange& exchange, std::function<bool()> still);

  static constexpr std::size_t kMostStreams = 64;
  Parts parts_;
  ApprovalDesk desk_;
  api::Readers* readers_ = nullptr;
  std::size_t streams_ = 0;
  mutable Guarded<std::map<std::string, bool>> own_looks_;  // by question
};

}  // namespace sallyport::app
