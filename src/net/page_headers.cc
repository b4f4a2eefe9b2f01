#include "net/page_headers.h"

namespace sallyport::net {

void add_page_headers(ServerResponse& response) {
  // A feature that is not named here is open to the page itself, so each is named.
  constexpr const char* kPermissions =
      "publickey-credentials-get=(self), publickey-credentials-create=(self), "
      "clipboard-write=(self), accelerometer=(), ambient-light-sensor=(), "
      "attribution-reporting=(), "
      "autoplay=(), bluetooth=(), browsing-topics=(), camera=(), clipboard-read=(), "
      "compute-pressure=(), cross-origin-isolated=(), display-capture=(), encrypted-media=(), "
      "fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), "
      "join-ad-interest-group=(), keyboard-map=(), local-fonts=(), magnetometer=(), microphone=(), "
      "midi=(), otp-credentials=(), payment=(), picture-in-picture=(), private-aggregation=(), "
      "run-ad-auction=(), screen-wake-lock=(), serial=(), shared-storage=(), storage-access=(), "
      "sync-xhr=(), usb=(), web-share=(), window-management=(), xr-spatial-tracking=()";
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.headers.emplace_back("referrer-policy", "no-referrer");
  response.headers.emplace_back("cross-origin-opener-policy", "same-origin");
  response.headers.emplace_back("cross-origin-resource-policy", "same-origin");
  response.headers.emplace_back("permissions-policy", kPermissions);
}

}  // namespace sallyport::net
