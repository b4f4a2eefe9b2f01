#include "app/config/console_config.h"

namespace sallyport::app {

policy::Mapping console_keys(ConsoleConfig& out) {
  policy::Mapping keys("the web console");
  keys.optional("enabled", "whether it is served at /console/ [true]", policy::truth_schema(),
                policy::read_truth(out.enabled));
  return keys;
}

}  // namespace sallyport::app
