#include "workspace/config/events_config.h"

#include <fmt/format.h>

#include "base/try.h"
#include "core/event/topic_name.h"
#include "net/url.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

using config::Mapping;
using config::Place;
using config::ReadValue;

const std::vector<std::string> kForms = {"jsonl", "cef", "ocsf"};

// Tokens without blanks and wildcards, as a message can be published to.
ReadValue read_subject(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigName)(place));
    const bool good = core::check_topic_name(out).has_value() && !out.starts_with('.') &&
                      !out.ends_with('.') && out.find("..") == std::string::npos;
    if (good) return {};
    return place.refuse(
        fmt::format("`{}` is not a subject; write for example sallyport.entries", out));
  };
}

// `nats://` or `tls://`, with a port and without credentials, which would appear in logs.
ReadValue read_broker(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigText)(place));
    if (!broker_address(out)) {
      return place.refuse(fmt::format(
          "`{}` is not an address of NATS; write for example tls://nats.example.com:4222", out));
    }
    return {};
  };
}

Mapping jetstream_keys(JetStreamConfig& out, const std::filesystem::path& folder) {
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("a stream of NATS JetStream");
  keys.required("url", "nats:// or tls://, host and port", text, read_broker(out.url))
      .required("subject", "subject of messages; `.` and the kind of the entry are appended",
                config::text_schema(kLongestConfigName), read_subject(out.subject))
      .optional("stream", "stream that must accept the messages [any stream with the subject]",
                config::text_schema(kLongestConfigName),
                config::read_text(out.stream, kLongestConfigName))
      .optional("credentials", "a file of NATS credentials (JWT and seed)", text,
                read_file_name(out.credentials, folder))
      .optional("token_env", "environment variable that holds a token", name_schema(),
                read_name(out.token_env))
      .optional("ca_file", "trusted certificates (PEM) [those of the system]", text,
                read_file_name(out.ca_file, folder))
      .optional("allow_plain", "allow a connection to another machine without encryption [false]",
                config::truth_schema(), config::read_truth(out.allow_plain));
  return keys;
}

Mapping http_keys(EventPostConfig& out, const std::filesystem::path& folder) {
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("an address that entries are posted to");
  keys.required("url", "URL that entries are posted to", text, read_url(out.url))
      .optional(
          "format", "format of the lines in a body [jsonl]", config::choice_schema(kForms),
          config::read_choice(
              kForms, [&out](std::size_t choice) { out.form = static_cast<EventForm>(choice); }))
      .optional("bearer_env", "environment variable that holds the bearer token", name_schema(),
                read_name(out.bearer_env))
      .optional("ca_file", "certificates (PEM) that are trusted in addition to those of the system",
                text, read_file_name(out.ca_file, folder))
      .optional("allow_http", "allow a connection to another machine without encryption [false]",
                config::truth_schema(), config::read_truth(out.allow_http));
  return keys;
}

// The name becomes part of a fact's key.
ReadValue read_consumer(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigName)(place));
    if (core::check_topic_name(out)) return {};
    return place.refuse(
        fmt::format("`{}` is not a name of a consumer, use A-Z a-z 0-9 . _ -", out));
  };
}

}  // namespace

std::optional<net::Url> broker_address(std::string_view text) {
  constexpr std::string_view kPlain = "nats://";
  constexpr std::string_view kTls = "tls://";
  const bool tls = text.starts_with(kTls);
  if (!tls && !text.starts_with(kPlain)) return std::nullopt;
  const std::string_view rest = text.substr(tls ? kTls.size() : kPlain.size());
  const Result<net::Url> url = net::Url::parse(fmt::format("http{}://{}", tls ? "s" : "", rest));
  if (!url || url->target != "/" || !rest.ends_with(":" + url->port)) return std::nullopt;
  return *url;
}

config::Mapping events_keys(EventsConfig& out, const std::filesystem::path& folder) {
  JetStreamConfig jetstream;
  EventPostConfig http;
  Mapping keys("a consumer of entries");
  keys.required("name", "name of the consumer and of its cursor",
                config::text_schema(kLongestConfigName), read_consumer(out.name))
      .optional("from", "where the consumer begins the first time [beginning]",
                config::choice_schema({"beginning", "now"}),
                config::read_choice({"beginning", "now"},
                                    [&out](std::size_t choice) { out.from_now = choice == 1; }))
      .optional("jetstream", "a stream of NATS JetStream",
                jetstream_keys(jetstream, folder).schema(),
                [&out, folder](const Place& place) -> Result<void> {
                  return jetstream_keys(out.jetstream.emplace(), folder).read(place);
                })
      .optional("http", "an address that entries are posted to", http_keys(http, folder).schema(),
                [&out, folder](const Place& place) -> Result<void> {
                  return http_keys(out.http.emplace(), folder).read(place);
                });
  return keys;
}

Result<void> check_events(const EventsConfig& config, const config::Place& place) {
  if (config.jetstream.has_value() != config.http.has_value()) return {};
  return place.refuse(
      fmt::format("`{}` needs `jetstream` or `http`, one of them alone", config.name));
}

}  // namespace sallyport::app
