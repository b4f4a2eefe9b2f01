// One witness over HTTP (C2SP tlog-witness). It gets a checkpoint and a proof, and answers with
// cosignatures, which are checked here before they are stored.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ledger/proof/merkle.h"
#include "ledger/proof/witness_policy.h"
#include "net/http_client.h"

namespace sallyport::app {

struct WitnessAnswer {
  enum class Kind {
    Cosigned,  // `lines` are its own, and verified
    Differs,   // 409: it knows the log at `size`
    Refused,   // 403 or 422: it does not accept this log
    Failed,    // it was not reached, or its answer is invalid
  };
  Kind kind = Kind::Failed;
  std::vector<ledger::NoteSignature> lines{};
  std::uint64_t size = 0;
  unsigned status = 0;  // of HTTP; 0: there is none
  std::string detail{};
};

// Used on a context with one thread.
class WitnessPeer {
 public:
  // `InvalidInput`: its URL is missing or wrong, or leads to another machine without TLS.
  static Result<std::unique_ptr<WitnessPeer>> open(boost::asio::any_io_executor executor,
                                                   ledger::WitnessPolicy::Witness witness);

  const ledger::WitnessPolicy::Witness& witness() const { return witness_; }

  // Ends within ten seconds.
  Async<WitnessAnswer> add_checkpoint(std::uint64_t old_size, ledger::Proof proof,
                                      std::string checkpoint);
  // Ends the current request at once.
  void cancel();

 private:
  WitnessPeer(ledger::WitnessPolicy::Witness witness, std::string target,
              std::unique_ptr<net::HttpClient> client)
      : witness_(std::move(witness)), target_(std::move(target)), client_(std::move(client)) {}
  struct Response {
    net::HttpHead head;
    std::string body;
  };
  Task<Response> post(std::string body);
  WitnessAnswer cosigned(const Response& reply, const std::string& checkpoint) const;
  static WitnessAnswer differs(const Response& reply);

  ledger::WitnessPolicy::Witness witness_;
  std::string target_;
  std::unique_ptr<net::HttpClient> client_;
  net::HttpExchange* running_ = nullptr;  // the request that is on its way; null: none
};

}  // namespace sallyport::app
