// Any JSON through the output sanitizer: the output is an envelope, a second pass changes nothing,
// and a secret that was planted between words is removed.
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/try.h"
#include "guards/redact/output_sanitizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  static const SystemClock clock;
  static const auto guard = [] {
    guards::SanitizerSettings settings;
    settings.detectors = guards::default_detectors();
    settings.max_string_bytes = 200;
    return *guards::OutputSanitizer::build(settings, "key", clock);
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = parse_json(text);
  if (!parsed) return 0;
  const std::string secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  const Envelope original = Envelope::of(
      json::array{parsed->value, "key " + secret + " end", json::object{{"a " + secret, 1}}});
  const Verdict first = guard->sanitize(original);
  if (first.kind == Verdict::Kind::Deny) return 0;
  SALLYPORT_INVARIANT(first.kind == Verdict::Kind::Rewrite);
  const auto once = Envelope::from_json(first.value);
  SALLYPORT_INVARIANT(once.has_value());
  const json::array& items = once->value.as_array();
  SALLYPORT_INVARIANT(items[1] == "key **** end");
  SALLYPORT_INVARIANT(json::serialize(items[2]).find(secret) == std::string::npos);
  SALLYPORT_INVARIANT(guard->sanitize(*once).kind == Verdict::Kind::Allow);
  return 0;
}
