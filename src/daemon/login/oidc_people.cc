#include "daemon/login/oidc_people.h"

#include "base/try.h"
#include "workspace/config/config.h"

namespace sallyport::app {

Result<OidcPeople::Now> OidcPeople::now() const {
  return file_.with([](File& file) -> Result<Now> {
    if (!file.path) return Now();
    if (file.state && file.state->still_holds(*file.path)) return file.config;
    file.state.reset();
    const std::optional<FileState> state = FileState::of(*file.path);
    SALLYPORT_TRY(const Config config, load_config(*file.path));
    const std::optional<ConsoleConfig>& console =
        config.serve ? config.serve->console : config.console;
    file.config =
        console && console->oidc ? std::make_shared<const OidcConfig>(*console->oidc) : nullptr;
    file.state = state;
    return file.config;
  });
}

}  // namespace sallyport::app
