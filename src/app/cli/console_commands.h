// `sallyport console` and `sallyport passkeys`.
#pragma once

#include <optional>
#include <string>

#include "app/cli/login_options.h"
#include "app/context.h"

namespace sallyport::app {

struct ConsoleOptions {
  std::optional<std::string> as;  // a reviewer with a key; no value: read access only
  bool open = false;              // in a browser
  bool qr = false;                // also as a QR code
  LoginOptions login{};
};
struct PasskeysOptions {
  std::string id{};  // of a key; to add one, the code that the page shows
  LoginOptions login{};
};
Result<int> passkeys_add(const Context& context, const PasskeysOptions& options);
Result<int> passkeys_list(const Context& context);
Result<int> passkeys_remove(const Context& context, const PasskeysOptions& options);

Result<int> console_link(const Context& context, const ConsoleOptions& options);

}  // namespace sallyport::app
