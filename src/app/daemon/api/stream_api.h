// What is written to the log, as it is written: one stream of events for a page (section 7 of the
// console's specification), and the health of the gate.
#pragma once

#include "api/http_api.h"
#include "app/daemon/api/opened_content.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// Used on the loop of the server; reads run on its readers. All parts must outlive it.
class StreamApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    const Clock& clock;
    OpenedContent& opened;
    std::function<bool()> stopping;
    std::function<json::array()> backtests;  // how far each is
  };
  explicit StreamApi(Parts parts) : parts_(std::move(parts)) {}

  void add_to(api::HttpApi& api);

 private:
  class News;
  Async<void> stream(api::Request request, net::ServerExchange& exchange,
                     std::function<bool()> still);
  // The size of the log, not older than one beat. One read answers for all streams.
  Async<std::uint64_t> newest_size();

  static constexpr std::size_t kMostStreams = 64;
  Parts parts_;
  api::Readers* readers_ = nullptr;
  std::size_t streams_ = 0;
  std::uint64_t size_ = 0;
  SteadyTime size_at_{};
  bool asking_size_ = false;
};

}  // namespace sallyport::app
