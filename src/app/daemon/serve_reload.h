// Takes up policy, tokens, models and the certificate of `sallyport serve` as the configuration
// names them now, when SIGHUP comes or its file has changed (MP-84).
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "app/daemon/config_watch.h"
#include "app/daemon/door/model_door.h"
#include "app/daemon/login/authenticator.h"
#include "app/daemon/serve.h"
#include "app/daemon/tls_watch.h"
#include "app/gate.h"

namespace sallyport::app {

// The section `serve`, with what the command line says instead. `InvalidInput`: there is none.
Result<ServeConfig> serve_config_of(const Context& context, const ServeOptions& options);

// Without tools over HTTP no token is needed, and none is made.
Result<AgentTokens> tokens_of(const ServeConfig& config, Gate& gate);

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

  // One after the other: what comes while it runs makes it run once more.
  Async<void> again(std::string_view why);

 private:
  Async<void> once(std::string_view why);
  Task<void> take_up();
  // What is not taken up while it runs.
  std::string changed(const json::object& section) const;

  Parts parts_;
  json::object at_start_;
  std::optional<ConfigWatch> watch_;
  bool running_ = false;
  bool waiting_ = false;
};

}  // namespace sallyport::app
