#include "trust/control.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/object_reader.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/record/shape_fields.h"

namespace sallyport::trust {

namespace {

constexpr std::string_view kKeyMark = "ed25519:";
constexpr auto kFreshness = std::chrono::minutes(10);

std::unexpected<Error> unauthorized(std::string why) {
  return fail(ErrorCode::Unauthenticated, std::move(why), {}, "unauthorized_control");
}

template <std::size_t size>
std::optional<std::array<std::uint8_t, size>> bytes_from(std::string_view text) {
  if (!text.starts_with(kKeyMark)) return std::nullopt;
  const std::optional<std::string> bytes = from_base64(text.substr(kKeyMark.size()));
  if (!bytes || bytes->size() != size) return std::nullopt;
  std::array<std::uint8_t, size> out;
  std::ranges::copy(*bytes, out.begin());
  return out;
}

}  // namespace

std::string key_text(const PublicKey& key) {
  return std::string(kKeyMark) + base64(key);
}

std::optional<PublicKey> key_from(std::string_view text) {
  return bytes_from<32>(text);
}

bool Reviewer::has_role(std::string_view role) const {
  return std::ranges::find(roles, role) != roles.end();
}

const Reviewer* Reviewers::find(std::string_view name) const {
  const auto found = std::ranges::find(people, name, &Reviewer::name);
  return found == people.end() ? nullptr : &*found;
}

std::string ControlStatement::text() const {
  return canonical_json(json::object{{"action", action},
                                     {"agent", agent},
                                     {"control_id", control_id},
                                     {"from_tier", to_string(from_tier)},
                                     {"ledger", ledger},
                                     {"reviewer", reviewer},
                                     {"schema", "sallyport.control.v1"},
                                     {"signed_at", signed_at},
                                     {"to_tier", to_string(to_tier)}});
}

std::string sign(const ControlStatement& statement, const std::array<std::uint8_t, 64>& secret) {
  const std::string text = statement.text();
  std::array<std::uint8_t, 64> signature;
  crypto_sign_ed25519_detached(signature.data(), nullptr, as_bytes(text).data(), text.size(),
                               secret.data());
  return std::string(kKeyMark) + base64(signature);
}

bool is_signature_of(std::string_view message, std::string_view signature, const PublicKey& key) {
  const auto bytes = bytes_from<64>(signature);
  return bytes && crypto_sign_ed25519_verify_detached(bytes->data(), as_bytes(message).data(),
                                                      message.size(), key.data()) == 0;
}

Result<void> check_controller(const Reviewers& reviewers, std::string_view name,
                              std::string_view statement, std::string_view signature) {
  bool keyed = false;
  bool controls = false;
  for (const Reviewer& reviewer : reviewers.people) {
    if (reviewer.name != name || !reviewer.key) continue;
    keyed = true;
    if (!reviewer.has_role("controller")) continue;
    controls = true;
    if (is_signature_of(statement, signature, *reviewer.key)) return {};
  }
  if (!keyed)
    return unauthorized(
        fmt::format("no key of `{:.60}` is registered; add the line that `sallyport "
                    "approvals init` prints to the list of reviewers",
                    name));
  if (!controls) {
    return unauthorized(fmt::format("`{:.60}` does not have the role `controller`", name));
  }
  return unauthorized(fmt::format("the signature is not that of `{:.60}`", name));
}

Result<void> check_direction(const ControlStatement& statement) {
  const bool up = statement.action == "trust.promote";
  if (!up && statement.action != "trust.demote") {
    return unauthorized(fmt::format("`{:.40}` is not a change of a tier", statement.action));
  }
  if (up ? statement.to_tier > statement.from_tier : statement.to_tier < statement.from_tier) {
    return {};
  }
  if (statement.to_tier == statement.from_tier) {
    return unauthorized(fmt::format("`{:.60}` already has the tier `{}`", statement.agent,
                                    to_string(statement.to_tier)));
  }
  return unauthorized(fmt::format("the tier `{}` is {} than `{}`; use `sallyport trust {}`",
                                  to_string(statement.to_tier), up ? "lower" : "higher",
                                  to_string(statement.from_tier), up ? "demote" : "promote"));
}

Result<void> check_control(const ControlStatement& statement, std::string_view signature,
                           const Reviewers& reviewers, WallTime at) {
  SALLYPORT_CHECK_OK(check_direction(statement));
  if (!parse_uuid(statement.control_id)) return unauthorized("the control id is not a UUID");
  if (statement.reviewer == statement.agent) {
    return unauthorized(fmt::format("`{:.60}` cannot change its own tier", statement.agent));
  }
  SALLYPORT_CHECK_OK(check_controller(reviewers, statement.reviewer, statement.text(), signature));
  const std::optional<WallTime> signed_at = from_rfc3339(statement.signed_at);
  const auto distance = signed_at ? std::chrono::abs(at - *signed_at) : WallTime::duration::max();
  if (distance > kFreshness) {
    return unauthorized("it was signed more than 10 minutes away, sign again");
  }
  return {};
}

TrustRecord control_record(const ControlStatement& statement, std::string_view signature,
                           std::string record_id, std::string trace_id, WallTime at) {
  return {.record_id = std::move(record_id),
          .agent = statement.agent,
          .action = statement.action,
          .approver = statement.reviewer,
          .outcome = Outcome::Success,
          .trace_id = std::move(trace_id),
          .autonomy_tier = statement.to_tier,
          .timestamp = whole_seconds(at),
          .metadata = {{"approval", approval_metadata(1, {{statement.reviewer, statement.signed_at,
                                                           std::string(signature)}})},
                       {"control", true},
                       {"control_id", statement.control_id},
                       {"from_tier", to_string(statement.from_tier)},
                       {"to_tier", to_string(statement.to_tier)}}};
}

Result<ClaimedControl> claimed_control(const TrustRecord& record, std::string ledger) {
  ObjectReader in(record.metadata, "metadata");
  if (!in.boolean("control")) in.refuse("control", "must be true");
  ClaimedControl claimed{.statement = {.action = record.action,
                                       .agent = record.agent,
                                       .control_id = in.text("control_id"),
                                       .from_tier = core::autonomy_in(in, "from_tier"),
                                       .to_tier = core::autonomy_in(in, "to_tier"),
                                       .ledger = std::move(ledger),
                                       .reviewer = record.approver.value_or("")},
                         .signature = {}};
  ObjectReader approval(in.object("approval"), "metadata.approval");
  for (const json::value& item : approval.array("signatures")) {
    ObjectReader signature(item, "metadata.approval.signatures");
    const std::string reviewer = signature.text("reviewer");
    if (!signature.ok() || reviewer != claimed.statement.reviewer) continue;
    claimed.signature = signature.text("signature");
    claimed.statement.signed_at = signature.time("signed_at");
    if (!signature.ok()) in.take(signature.error());
  }
  if (!approval.ok()) in.take(approval.error());
  if (in.ok() && claimed.signature.empty())
    in.refuse("approval", "has no signature of the approver");
  if (in.ok() && claimed.statement.to_tier != record.autonomy_tier) {
    in.refuse("to_tier", "is not the tier of the record");
  }
  return core::finished(in, std::move(claimed));
}

Result<void> check_recorded_control(const TrustRecord& record, std::string ledger,
                                    const Reviewers& reviewers) {
  SALLYPORT_TRY(const ClaimedControl claimed, claimed_control(record, std::move(ledger)));
  if (record.outcome != Outcome::Success) return unauthorized("its outcome is not success");
  return check_control(claimed.statement, claimed.signature, reviewers,
                       from_rfc3339(record.timestamp).value_or(WallTime{}));
}

}  // namespace sallyport::trust
