// The section `console` of the configuration file: the web console at `/console/`. It stands at the
// top of the file or in `serve`.
//
//   console:
//     enabled: true
#pragma once

#include "policy/mapping.h"

namespace sallyport::app {

struct ConsoleConfig {
  bool enabled = true;
};

policy::Mapping console_keys(ConsoleConfig& out);

}  // namespace sallyport::app
