// What the gateways of a shared log have to agree on while they run: the next key, the database, and
// the name of a gateway that was declared lost.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/ledger.h"
#include "ledger/member/database_identity.h"
#include "ledger/write/ledger_queue.h"

namespace sallyport::ledger {

namespace {

constexpr const char* kNextKey = "next_key";
constexpr const char* kDatabase = "database";

std::string next_key_in(const core::Fact& instance) {
  const Result<json::value> value = parse_own_json(instance.value.value_or(""));
  const json::object* const said = value ? value->if_object() : nullptr;
  return said != nullptr ? text_or_empty(*said, kNextKey) : "";
}

}  // namespace

// A gateway that was declared lost goes on under a new name. Its calls of before are closed, and
// what comes of them is told as late (SC-33).
void Ledger::rejoin() {
  if (!membership_->by_lease() || !settings_.announced) return;
  const Result<void> fit = membership_->may_act();
  const bool fenced = health().cause == "fenced" || (!fit && fit.error().cause == "fenced");
  if (!fenced) return;
  const std::string before = instance_.get();
  const std::string name = uuid7_text(parts_.clock, parts_.entropy);
  if (!membership_->rejoin(name)) return;  // tried again in a second
  instance_.renew(name);
  committer_.left();
  announced_key_.clear();
  Group group;
  group.compose = [&](WriteView&) -> Result<std::vector<core::Draft>> {
    json::object details{{"role", settings_.role},
                         {"process", static_cast<std::int64_t>(getpid())},
                         {"key", committer_.verifier().text()},
                         {"rejoined", before}};
    core::Draft started = control("started", std::move(details));
    started.facts.push_back({"instance", name, "{}"});
    return std::vector{std::move(started)};
  };
  if (!committer_.commit({&group}) || !group.result) return;
  committer_.joined();
  const MutexLock lock(queue_->mutex);
  if (queue_->health.cause == "fenced") queue_->health = {};
}

// The fact that names this gateway also names the key that it could sign with next (SC-54). A key
// that the log is signed with already takes its place in the folder.
void Ledger::announce_next_key() {
  if (!membership_->by_lease() || !settings_.announced || !health().ok) return;
  const KeyFolder::FoundKey staged = keys_.staged();
  if (!staged) return;
  const std::string next = *staged ? (*staged)->verifier().text() : "";
  if (!next.empty() && next == committer_.verifier().text()) {
    (void)parts_.store.write([this](WriteView& view) { return finish_rotation(view); });
    return;
  }
  if (next == announced_key_) return;
  Group group;
  group.compose = [&](WriteView& view) -> Result<std::vector<core::Draft>> {
    json::object said;
    if (!next.empty()) said[kNextKey] = next;
    SALLYPORT_CHECK_OK(view.put_fact({"instance", instance_.get(), json::serialize(said)}));
    return std::vector<core::Draft>{};
  };
  if (committer_.commit({&group}) && group.result) announced_key_ = next;
}

// On a shared log the next key is a file before it signs, so that it can be given to every gateway.
KeyFolder::FoundKey Ledger::next_key() {
  if (membership_->by_lease()) {
    SALLYPORT_TRY(std::shared_ptr<const SigningKey> staged, keys_.staged());
    if (staged && staged->verifier() != committer_.verifier()) return staged;
  }
  auto made = std::make_shared<const SigningKey>(SigningKey::generate(origin_, parts_.entropy));
  if (membership_->by_lease()) SALLYPORT_CHECK_OK(keys_.stage(*made));
  return made;
}

Result<void> Ledger::check_announced(ReadView& view, const Signer& next) const {
  if (!membership_->by_lease()) return {};
  SALLYPORT_TRY(const std::vector<core::Fact> instances, view.facts("instance"));
  std::vector<std::string> missing;
  for (const core::Fact& instance : instances) {
    const bool is_other = instance.key != instance_.get() && membership_->alive(instance.key);
    if (is_other && next_key_in(instance) != next.verifier().text())
      missing.push_back(instance.key);
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("{} of the gateways of this log do not have the next key yet ({}); copy "
                          "keys/signing.key.next of this data folder into the keys folder of each "
                          "gateway, wait two seconds, and run this again",
                          missing.size(), fmt::join(missing, ", ")));
}

// A copy of the rows in another database is another log, until a person says otherwise.
Result<void> Ledger::check_identity(WriteView& view) const {
  const std::string identity = parts_.store.identity();
  const bool acknowledged = !settings_.acknowledged_rollback.empty();
  if (!acknowledged) SALLYPORT_CHECK_OK(check_database(view, identity));
  if (identity.empty() || !(acknowledged || settings_.announced)) return {};
  SALLYPORT_TRY(const std::optional<std::string> first, view.fact("ledger", kDatabase));
  if (first == identity) return {};
  return view.put_fact({"ledger", kDatabase, identity});
}

Result<void> check_database(ReadView& view, const std::string& identity) {
  SALLYPORT_TRY(const std::optional<std::string> first, view.fact("ledger", kDatabase));
  if (identity.empty() || !first || *first == identity) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("this log was written in the database with the system identifier {}, "
                          "and this one has {}; if the log was restored here on purpose, run "
                          "`sallyport ledger acknowledge --reason TEXT`",
                          *first, identity),
              {}, "corrupt");
}

}  // namespace sallyport::ledger
