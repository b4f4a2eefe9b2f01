// Verifier keys and the rotation of the signing key. No private key is ever printed (LE-28).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/commands.h"
#include "app/output.h"
#include "base/try.h"
#include "ledger/opening_check.h"

namespace sallyport::app {

Result<int> keys_show(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  std::vector<ledger::KeyPeriod> periods;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(periods, ledger::key_history(view));
    return {};
  }));
  if (periods.empty()) return fail(ErrorCode::NotFound, "this ledger names no key yet");
  for (const ledger::KeyPeriod& period : periods) {
    if (context.json()) {
      json::object object{{"key", period.key.text()},
                          {"first_size", period.first_size},
                          {"current", !period.last_size.has_value()},
                          {"compromised", period.compromised}};
      if (period.last_size) object["last_size"] = *period.last_size;
      say(canonical_json(object));
      continue;
    }
    const std::string sizes = period.last_size
                                  ? fmt::format("sizes {} to {}", period.first_size, *period.last_size)
                                  : fmt::format("from size {} on", period.first_size);
    say(fmt::format("{}  {}{}", visible(period.key.text()), sizes,
                    period.compromised ? ", compromised" : ""));
  }
  return 0;
}

Result<int> keys_rotate(const Context& context, const RotateOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  SALLYPORT_TRY(const ledger::VerifierKey key, workspace->ledger().rotate_key(options.compromised));
  if (context.json()) {
    say(canonical_json(json::object{{"key", key.text()}, {"compromised", options.compromised}}));
    return 0;
  }
  say(fmt::format("now signing with {}", visible(key.text())));
  say(options.compromised
          ? "hand the new key out another way: nobody accepts it on the word of the old one"
          : "who pinned the old key accepts this one with the receipt of the rotation:\n"
            "  sallyport ledger show --kind control");
  return 0;
}

}  // namespace sallyport::app
