// Reloads policy, tokens, models and certificate of `sallyport serve` on SIGHUP, or when the
// configuration file changes (MP-84).
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "app/gate.h"
#include "daemon/config_watch.h"
#include "daemon/door/model_door.h"
#include "daemon/login/authenticator.h"
#include "daemon/serve.h"
#include "daemon/tls_watch.h"

namespace sallyport::app {

// The section `serve`, overridden by the command line. `InvalidInput`: there is no such section.
Result<ServeConfig> serve_config_of(const Context& context, const ServeOptions& options);

// Without tools and models over HTTP no token is needed, and none is made. `serves_models`: this
// process does, also if the configuration no longer says so, because that counts from the next
// start.
Result<AgentTokens> tokens_of(const ServeConfig& config, Gate& gate, bool serves_models);

// On the loop of the gate. All must outlive it.
class ServeReload {
 public:
  struct Parts {
    const Context& context;
    const ServeOptions& options;
    Gate& gate;
    Authenticator& authenticator;
    TlsWatch* tls;      // null: plain HTTP
    ModelDoor* models;  // null: no model proxy
  };
  explicit ServeReload(const Parts& parts);

  // Null: there is no file.
  ConfigWatch* watch() { return watch_ ? &*watch_ : nullptr; }

  // Reloads. A call during a reload makes it run once more.
  Async<void> reload(std::string_view why);

 private:
  Async<void> reload_once(std::string_view why);
  Task<void> apply();
  // Names the changed keys that need a restart.
  std::string keys_for_restart(const json::object& section) const;

  Parts parts_;
  json::object at_start_;
  std::optional<ConfigWatch> watch_;
  bool running_ = false;
  bool waiting_ = false;
};

}  // namespace sallyport::app
