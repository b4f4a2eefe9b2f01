// Keeps the gateways of a shared log in agreement on the next key.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/ledger.h"

namespace sallyport::ledger {

namespace {

constexpr const char* kNextKey = "next_key";

std::string next_key_in(const core::Fact& instance) {
  const Result<json::value> value = parse_own_json(instance.value.value_or(""));
  const json::object* const members = value ? value->if_object() : nullptr;
  return members != nullptr ? text_or_empty(*members, kNextKey) : "";
}

}  // namespace

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
    json::object members;
    if (!next.empty()) members[kNextKey] = next;
    SALLYPORT_CHECK_OK(view.put_fact({"instance", instance_.get(), json::serialize(members)}));
    return std::vector<core::Draft>{};
  };
  if (committer_.commit({&group}) && group.result) announced_key_ = next;
}

// On a shared log the next key is a file before it signs, so that every gateway can get a copy.
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

}  // namespace sallyport::ledger
