#include "outside/witness_peer.h"

#include <fmt/format.h>

#include <charconv>

#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestCosignature = 64 * 1024;
constexpr std::chrono::milliseconds kLongestHead{5'000};
constexpr std::chrono::milliseconds kLongestBody{5'000};

std::string request_text(std::uint64_t old_size, const ledger::Proof& proof,
                         std::string_view checkpoint) {
  std::string text = fmt::format("old {}\n", old_size);
  for (const Hash& hash : proof) text += base64(hash) + "\n";
  return fmt::format("{}\n{}", text, checkpoint);
}

WitnessAnswer answered(WitnessAnswer::Kind kind, unsigned status, std::string detail) {
  return {.kind = kind, .status = status, .detail = std::move(detail)};
}

}  // namespace

Result<std::unique_ptr<WitnessPeer>> WitnessPeer::open(boost::asio::any_io_executor executor,
                                                       ledger::WitnessPolicy::Witness witness) {
  SALLYPORT_TRY(net::Url url, net::Url::parse(witness.url));
  std::string target = url.target;
  while (target.ends_with('/')) target.pop_back();
  target += "/add-checkpoint";
  net::HttpClient::Settings settings{.url = std::move(url), .follow_redirects = false};
  settings.limits.connections = 2;
  settings.limits.connect = kLongestHead;
  SALLYPORT_TRY(auto client, net::HttpClient::open(std::move(executor), std::move(settings)));
  return std::unique_ptr<WitnessPeer>(
      new WitnessPeer(std::move(witness), std::move(target), std::move(client)));
}

void WitnessPeer::cancel() {
  if (running_ != nullptr) running_->cancel();
}

Task<WitnessPeer::Response> WitnessPeer::post(std::string body) {
  const auto exchange = client_->exchange();
  running_ = exchange.get();
  struct Ended {
    net::HttpExchange*& running;
    ~Ended() { running = nullptr; }
  } ended{running_};
  net::HttpRequest request{.target = target_,
                           .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                           .body = std::move(body)};
  Response reply;
  SALLYPORT_CO_TRY(reply.head, co_await exchange->send(std::move(request), kLongestHead));
  SALLYPORT_CO_TRY(reply.body, co_await exchange->read_all(kLargestCosignature, kLongestBody));
  co_return reply;
}

Async<WitnessAnswer> WitnessPeer::add_checkpoint(std::uint64_t old_size, ledger::Proof proof,
                                                 std::string checkpoint) {
  using enum WitnessAnswer::Kind;
  const Result<Response> reply = co_await post(request_text(old_size, proof, checkpoint));
  if (!reply) co_return answered(Failed, 0, reply.error().message);
  const unsigned status = reply->head.status;
  switch (status) {
    case 200:
      co_return cosigned(*reply, checkpoint);
    case 409:
      co_return differs(*reply);
    case 403:
      co_return answered(Refused, status, "it does not know the key of this log, or its signature");
    case 422:
      co_return answered(Refused, status, "it has seen this log in a state that this one denies");
    case 404:
      co_return answered(Failed, status, "it does not know this log; register its origin there");
    default:
      co_return answered(Failed, status, fmt::format("it answers {}", status));
  }
}

// As the specification advises: its lines are read as part of the note.
WitnessAnswer WitnessPeer::cosigned(const Response& reply, const std::string& checkpoint) const {
  const auto failed = [](std::string detail) {
    return answered(WitnessAnswer::Kind::Failed, 200, std::move(detail));
  };
  const Result<ledger::Note> own = ledger::Note::parse(checkpoint);
  if (!own) return failed(own.error().message);
  Result<ledger::Note> note = ledger::Note::parse(own->text + "\n" + reply.body);
  if (!note || note->text != own->text) return failed("its answer holds no signature lines");
  std::erase_if(note->signatures, [&](const ledger::NoteSignature& line) {
    return line.name != witness_.key.name || line.key_id != witness_.key.id;
  });
  if (note->signatures.empty()) return failed("its answer has no line of its key");
  note->signatures.resize(1);
  if (ledger::verify_note(*note, witness_.key) != ledger::NoteTrust::Signed) {
    return failed("its cosignature does not verify");
  }
  return {.kind = WitnessAnswer::Kind::Cosigned,
          .lines = std::move(note->signatures),
          .status = 200,
          .detail = "cosigned"};
}

WitnessAnswer WitnessPeer::differs(const Response& reply) {
  std::string_view text = reply.body;
  if (text.ends_with('\n')) text.remove_suffix(1);
  WitnessAnswer answer = answered(WitnessAnswer::Kind::Differs, 409, "it knows another size");
  const auto read = std::from_chars(text.data(), text.data() + text.size(), answer.size);
  if (read.ec == std::errc{} && std::to_string(answer.size) == text) return answer;
  return answered(WitnessAnswer::Kind::Failed, 409, "it answers 409 and names no size");
}

}  // namespace sallyport::app
