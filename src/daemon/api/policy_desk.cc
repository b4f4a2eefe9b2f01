#include "daemon/api/policy_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "core/plan/policy_text.h"
#include "ledger/entry/entry.h"
#include "ledger/read/store_reader.h"
#include "machine/replaced_file.h"
#include "policy/shipped.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

std::string extended_name(const config::YamlNode& root) {
  for (const config::YamlMember& member : root.members) {
    if (member.key.text == "extends") return member.value.text;
  }
  return {};
}

std::unexpected<Error> changed(std::string message) {
  return fail(ErrorCode::Conflict, std::move(message), "replaces", "precondition_failed");
}

}  // namespace

Result<void> PolicyDesk::allow(PolicyWrites needed) const {
  if (writes_ >= needed) return {};
  return fail(ErrorCode::Unauthenticated,
              fmt::format("the configuration has `console.policies: {}`; this needs `{}`",
                          to_string(writes_), to_string(needed)),
              {}, "policies_read_only");
}

Result<core::PolicyText> PolicyDesk::text_from(const std::string& text) const {
  core::PolicyText texts{.text = text};
  const Result<config::YamlNode> root = config::parse_yaml(text, "policy");
  const std::string base = root ? extended_name(*root) : std::string();
  if (base.empty() || policy::shipped_policy(base) != nullptr) return texts;
  ledger::StoreReader records(gate_.ledger().store());
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, gate_.plans().current()->hash()));
  if (!kept || kept->text.base_name != base) {
    return fail(ErrorCode::InvalidInput,
                "`extends` names a file that the policy in force does not extend", "policy");
  }
  texts.base_name = base;
  texts.base_text = kept->text.base_text;
  return texts;
}

Result<std::filesystem::path> PolicyDesk::file_of(const std::string& name) const {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  const bool good =
      !name.empty() && name.size() <= 64 && name.find_first_not_of(kLetters) == std::string::npos;
  if (good) return drafts_ / (name + ".yaml");
  return fail(ErrorCode::InvalidInput,
              "the name of a draft has 1 to 64 small letters, digits and `-`", "name");
}

Result<std::vector<std::string>> PolicyDesk::drafts() const {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(drafts_, code)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> PolicyDesk::draft(const std::string& name) const {
  SALLYPORT_TRY(const std::filesystem::path file, file_of(name));
  Result<std::string> text = read_input(file, kLargestText);
  if (text) return std::move(*text);
  return fail(ErrorCode::NotFound, fmt::format("there is no draft `{}`", name));
}

Result<void> PolicyDesk::keep(const std::string& name, const std::string& text) const {
  SALLYPORT_CHECK_OK(allow(PolicyWrites::Propose));
  SALLYPORT_TRY(const std::filesystem::path file, file_of(name));
  SALLYPORT_TRY(const std::vector<std::string> known, drafts());
  if (known.size() >= kMostDrafts && !std::ranges::binary_search(known, name)) {
    return fail(ErrorCode::Conflict, fmt::format("there are {} drafts already", known.size()));
  }
  return replace_file(file, text);
}

// Checks that the file has not changed since it was loaded.
Result<void> PolicyDesk::check_file(const std::filesystem::path& file,
                                    const std::string& hash) const {
  ledger::StoreReader records(gate_.ledger().store());
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, hash));
  SALLYPORT_TRY(const std::string now, read_input(file, 8u << 20));
  if (kept && kept->text.text == now) return {};
  return changed("the file of the policy has changed since it was loaded");
}

Task<void> PolicyDesk::note(const char* control, const Activation& wanted,
                            const std::string& hash) {
  std::vector<core::Draft> drafts;
  drafts.push_back(ledger::control(control, {{"who", wanted.who},
                                             {"hash_before", wanted.replaces},
                                             {"hash", hash},
                                             {"source", gate_.policy_file()->string()}}));
  SALLYPORT_CO_TRY([[maybe_unused]] const auto written,
                   co_await gate_.recorder().append(std::move(drafts), core::Urgency::Announces));
  co_return Result<void>{};
}

Task<PolicyDesk::Activated> PolicyDesk::activate(Activation wanted) {
  SALLYPORT_CO_CHECK_OK(allow(PolicyWrites::Activate));
  if (!gate_.policy_file()) {
    co_return fail(ErrorCode::Conflict,
                   "a shipped policy is in force; name a file under `serve.policy` first");
  }
  if (activating_) co_return fail(ErrorCode::Conflict, "another policy is being activated");
  activating_ = true;
  const std::shared_ptr<void> at_end(nullptr, [this](void*) { activating_ = false; });
  const std::filesystem::path file = *gate_.policy_file();
  Activated done{.hash_before = gate_.plans().current()->hash()};
  if (done.hash_before != wanted.replaces) {
    co_return changed("another policy is in force than the one that was shown");
  }
  SALLYPORT_CO_CHECK_OK(check_file(file, done.hash_before));
  SALLYPORT_CO_TRY(core::PolicyText text, text_from(wanted.text));
  SALLYPORT_CO_TRY(const std::shared_ptr<const core::Plan> plan,
                   gate_.rehearse_policy(std::move(text)));
  done.hash = plan->hash();
  SALLYPORT_CO_CHECK_OK(co_await note("policy_activated", wanted, done.hash));
  if (const Result<void> written = replace_file(file, wanted.text); !written) {
    SALLYPORT_CO_CHECK_OK(co_await note("policy_activation_failed", wanted, done.hash));
    co_return std::unexpected(written.error());
  }
  co_await gate_.look_at_policy();
  done.in_force = gate_.plans().current()->hash() == done.hash;
  co_return done;
}

}  // namespace sallyport::app
