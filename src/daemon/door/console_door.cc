#include "daemon/door/console_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "machine/accounts.h"

namespace sallyport::app {

namespace {

constexpr std::chrono::minutes kGood{1};
constexpr std::size_t kMostNonces = 1024;

Result<void> check_signed(const json::object& login, const trust::Reviewers& people,
                          const std::string& ledger, WallTime now) {
  const std::string name = text_or_empty(login, "reviewer");
  const std::string at = text_or_empty(login, "at");
  const trust::Reviewer* const person = people.find(name);
  if (person == nullptr || !person->key) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("no key of `{:.80}` is registered here; add the line that "
                            "`sallyport approvals init` prints to the list of reviewers",
                            name));
  }
  const std::string text = console_statement(name, ledger, text_or_empty(login, "nonce"), at);
  if (!trust::is_signature_of(text, text_or_empty(login, "signature"), *person->key)) {
    return fail(ErrorCode::Unauthenticated, "the signature is not that of the registered key");
  }
  const std::optional<WallTime> signed_at = from_rfc3339(at);
  if (!signed_at || *signed_at > now + kGood || *signed_at < now - kGood) {
    return fail(ErrorCode::Unauthenticated, "the statement was signed too long ago");
  }
  return {};
}

}  // namespace

std::string console_statement(const std::string& reviewer, const std::string& ledger,
                              const std::string& nonce, const std::string& at) {
  return canonical_json(json::object{{"schema", "sallyport.console_login.v1"},
                                     {"reviewer", reviewer},
                                     {"ledger", ledger},
                                     {"nonce", nonce},
                                     {"at", at}});
}

ConsoleDoor::ConsoleDoor(Parts parts)
    : parts_(std::move(parts)),
      server_(parts_.executor,
              {.greeting = std::string(kConsoleGreeting), .question_bytes = kLargestConsoleFrame},
              parts_.log) {}

Async<void> ConsoleDoor::run(std::chrono::milliseconds patience) {
  co_await server_.run(
      [this](net::Peer peer, std::string question) { return answer(peer, std::move(question)); },
      patience);
}

// A process of the same user may read, but does not count as a person (AP-28).
Result<LoginLinks::Guest> ConsoleDoor::guest_of(const net::Peer& peer,
                                                const json::object& question) {
  const json::object* const login = object_in(question, "login");
  if (login == nullptr) {
    return LoginLinks::Guest{
        fmt::format("local:{}", name_of_user(peer.uid)), "link", {api::Role::Viewer}};
  }
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people.now());
  SALLYPORT_CHECK_OK(check_signed(*login, *people, parts_.ledger, parts_.clock.wall()));
  const std::string nonce = text_or_empty(*login, "nonce");
  if (nonce.size() < 16 || std::ranges::find(nonces_, nonce) != nonces_.end()) {
    return fail(ErrorCode::Unauthenticated, "this statement was used before");
  }
  nonces_.push_back(nonce);
  if (nonces_.size() > kMostNonces) nonces_.pop_front();
  const trust::Reviewer* const person = people->find(text_or_empty(*login, "reviewer"));
  const std::string key = person != nullptr && person->key ? hex(*person->key) : "";
  return LoginLinks::Guest{text_or_empty(*login, "reviewer"), "link_key", {}, key};
}

Task<json::object> ConsoleDoor::link_for(net::Peer peer, json::object question) {
  SALLYPORT_CO_TRY(LoginLinks::Guest guest, guest_of(peer, question));
  const std::string name = guest.name;
  const std::string secret = parts_.links.make(std::move(guest));
  co_return json::object{{"url", fmt::format("{}#once={}", parts_.address, secret)},
                         {"name", name},
                         {"good_for_seconds", std::chrono::seconds(LoginLinks::kGood).count()}};
}

// Returns the statement of a code. With its signature, makes the key active (CO-19).
Task<json::object> ConsoleDoor::sign_for(json::object passkey) {
  const std::string code = text_or_empty(passkey, "code");
  if (!passkey.contains("signature")) {
    SALLYPORT_CO_TRY(const trust::Enrolment waits, parts_.passkeys.offered(code));
    co_return json::object{{"statement", waits.statement()}};
  }
  SALLYPORT_CO_TRY(const trust::Enrolment added,
                   co_await parts_.passkeys.accept(code, text_or_empty(passkey, "signature")));
  co_return json::object{{"added", added.credential_id}};
}

Async<std::optional<net::FrameServer::Response>> ConsoleDoor::answer(net::Peer peer,
                                                                     std::string question) {
  const Result<ParsedJson> asked = parse_json(question, {.bytes = kLargestConsoleFrame});
  const json::object* const body = asked ? asked->value.if_object() : nullptr;
  Result<json::object> response = fail(ErrorCode::InvalidInput, "a question is an object");
  const json::object* const passkey = body ? object_in(*body, "passkey") : nullptr;
  if (passkey != nullptr) {
    response = co_await sign_for(*passkey);
  } else if (body != nullptr) {
    response = co_await link_for(peer, *body);
  }
  if (!response) response = json::object{{"error", response.error().message}};
  co_return net::FrameServer::Response{json::serialize(*response)};
}

}  // namespace sallyport::app
