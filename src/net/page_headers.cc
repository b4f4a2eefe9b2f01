#include "net/page_headers.h"

namespace sallyport::net {

void add_page_headers(ServerResponse& response) {
  // A feature that is not listed is allowed for the page itself, so each is listed.
  constexpr const char* kPermissions =
      "publickey-credentials-get=(self), publickey-credentials-create=(self), "
      "clipboard-write=(self), accelerometer=(), ambient-light-sensor=(), aria-notify=(), "
      "attribution-reporting=(), autoplay=(), bluetooth=(), browsing-topics=(), camera=(), "
      "captured-surface-control=(), ch-device-memory=(), ch-downlink=(), ch-dpr=(), ch-ect=(), "
      "ch-prefers-color-scheme=(), ch-prefers-reduced-motion=(), "
      "ch-prefers-reduced-transparency=(), ch-rtt=(), ch-save-data=(), ch-ua=(), ch-ua-arch=(), "
      "ch-ua-bitness=(), ch-ua-form-factors=(), ch-ua-full-version=(), "
      "ch-ua-full-version-list=(), ch-ua-high-entropy-values=(), ch-ua-mobile=(), "
      "ch-ua-model=(), ch-ua-platform=(), ch-ua-platform-version=(), ch-ua-wow64=(), "
      "ch-viewport-height=(), ch-viewport-width=(), ch-width=(), clipboard-read=(), "
      "compute-pressure=(), cross-origin-isolated=(), deferred-fetch=(), "
      "deferred-fetch-minimal=(), digital-credentials-create=(), digital-credentials-get=(), "
      "display-capture=(), encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), "
      "gyroscope=(), hid=(), identity-credentials-get=(), idle-detection=(), "
      "interest-cohort=(), join-ad-interest-group=(), keyboard-map=(), language-detector=(), "
      "language-model=(), local-fonts=(), local-network=(), local-network-access=(), "
      "loopback-network=(), magnetometer=(), media-playback-while-not-visible=(), "
      "microphone=(), midi=(), on-device-speech-recognition=(), otp-credentials=(), payment=(), "
      "picture-in-picture=(), private-aggregation=(), private-state-token-issuance=(), "
      "private-state-token-redemption=(), run-ad-auction=(), screen-wake-lock=(), serial=(), "
      "shared-storage=(), speaker-selection=(), storage-access=(), summarizer=(), sync-xhr=(), "
      "translator=(), unload=(), usb=(), web-share=(), window-management=(), "
      "xr-spatial-tracking=()";
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.headers.emplace_back("referrer-policy", "no-referrer");
  response.headers.emplace_back("cross-origin-opener-policy", "same-origin");
  response.headers.emplace_back("cross-origin-resource-policy", "same-origin");
  response.headers.emplace_back("permissions-policy", kPermissions);
}

}  // namespace sallyport::net
