// The list `events` of the section `serve`: consumers that get every entry of the log as it is
// written.
//
//   events:
//     - {name: bus, jetstream: {url: "tls://nats.example.com:4222", subject: sallyport.entries}}
//     - {name: siem, http: {url: "https://siem.example.com/in", format: cef, bearer_env:
//     SIEM_TOKEN}}
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/mapping.h"
#include "net/url.h"

namespace sallyport::app {

enum class EventForm { Json, Cef, Ocsf };

struct JetStreamConfig {
  std::string url{};
  std::string subject{};  // prefix; the kind of the entry is appended
  std::string stream{};   // required stream; empty: any that has the subject
  std::optional<std::filesystem::path> credentials{};
  std::string token_env{};
  std::optional<std::filesystem::path> ca_file{};
  bool allow_plain = false;
};

struct EventPostConfig {
  std::string url{};
  EventForm form = EventForm::Json;
  std::string bearer_env{};
  std::optional<std::filesystem::path> ca_file{};
  bool allow_http = false;
};

// One consumer. Its cursor has the same name, so that it continues where it stopped.
struct EventsConfig {
  std::string name{};
  bool from_now = false;  // starts with new entries; otherwise with the first entry
  std::optional<JetStreamConfig> jetstream{};
  std::optional<EventPostConfig> http{};
};

// Reads `nats://` or `tls://` with host and port, as in a URL of HTTP. No value: it is malformed.
std::optional<net::Url> broker_address(std::string_view text);

config::Mapping events_keys(EventsConfig& out, const std::filesystem::path& folder);
// Checks that the consumer has exactly one destination.
Result<void> check_events(const EventsConfig& config, const config::Place& place);

}  // namespace sallyport::app
