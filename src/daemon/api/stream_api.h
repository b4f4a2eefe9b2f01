// Streams new entries of the log as events to a page, and the health of the gate.
#pragma once

#include "api/http_api.h"
#include "daemon/api/log_size.h"
#include "daemon/api/opened_content.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// Used on the loop of the server; reads run on its readers. All parts must outlive it.
class StreamApi {
 public:
  struct Parts {
    ledger::Ledger& ledger;
    const Clock& clock;
    LogSize& size;
    OpenedContent& opened;
    std::function<bool()> stopping;
    std::function<json::array()> backtests;  // the progress of each
  };
  explicit StreamApi(Parts parts) : parts_(std::move(parts)) {}

  void add_to(api::HttpApi& api);

 private:
  class News;
  Async<void> stream(api::Request request, net::ServerExchange& exchange,
                     std::function<bool()> still);

  static constexpr std::size_t kMostStreams = 64;
  Parts parts_;
  api::Readers* readers_ = nullptr;
  std::size_t streams_ = 0;
};

}  // namespace sallyport::app
