#include "telemetry/span.h"

#include <algorithm>

#include "base/cut_text.h"
#include "base/encoding.h"

namespace sallyport::telemetry {

namespace {

constexpr std::size_t kLongestValue = 512;
constexpr std::size_t kMostValues = 32;

std::string bounded(std::string_view text) {
  return cut_utf8_bytes(readable(text), kLongestValue);
}

template <std::size_t Size>
bool read_id(std::string_view text, std::array<std::uint8_t, Size>& out) {
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() != Size) return false;
  std::ranges::copy(*bytes, out.begin());
  return std::ranges::any_of(out, [](std::uint8_t byte) { return byte != 0; });
}

}  // namespace

// `00-<32 digits>-<16 digits>-<2 digits>`; a later version may say more behind that.
std::optional<TraceContext> TraceContext::parse(std::string_view text) {
  constexpr std::size_t kSize = 55;
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') {
    return std::nullopt;
  }
  const auto version = from_hex(text.substr(0, 2));
  const auto flags = from_hex(text.substr(53, 2));
  if (!version || !flags || *version == "\xFF") return std::nullopt;
  const bool more = text.size() > kSize;
  if (more && (version->front() == '\0' || text[kSize] != '-')) return std::nullopt;
  TraceContext context{.sampled = (flags->front() & 1) != 0};
  if (!read_id(text.substr(3, 32), context.trace) || !read_id(text.substr(36, 16), context.span)) {
    return std::nullopt;
  }
  return context;
}

std::string TraceContext::text() const {
  return "00-" + hex(trace) + "-" + hex(span) + (sampled ? "-01" : "-00");
}

std::string TraceContext::trace_id() const {
  return hex(trace);
}

void Span::set(std::string key, std::string_view value) {
  if (!value.empty()) attributes.emplace_back(std::move(key), bounded(value));
}

void Span::set(std::string key, std::vector<std::string> values) {
  if (values.empty()) return;
  if (values.size() > kMostValues) values.resize(kMostValues);
  for (std::string& value : values) value = bounded(value);
  attributes.emplace_back(std::move(key), std::move(values));
}

void Span::fail(std::string_view error_type) {
  if (error_type.empty()) return;
  failed = true;
  set("error.type", error_type);
}

}  // namespace sallyport::telemetry
