#include "workspace/config/store_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

using config::Mapping;
using config::Place;
using config::ReadValue;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kMostHosts = 16;

ReadValue read_address(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigText)(place));
    if (out.starts_with("postgresql://") || out.starts_with("postgres://")) return {};
    // The text is not repeated: it may hold a password.
    return place.refuse("write an address as postgresql://user@host/database");
  };
}

ReadValue read_time(milliseconds& out, std::uint64_t least, std::uint64_t greatest) {
  return config::read_number(least, greatest,
                             [&out](std::uint64_t count) { out = milliseconds(count); });
}

}  // namespace

Mapping store_keys(store::SharedLog& out) {
  Mapping keys("a log in PostgreSQL that several gateways share");
  keys.required("postgresql", "the address of the database",
                config::text_schema(kLongestConfigText), read_address(out.url))
      .optional("log", "name of the log in the database [main]", name_schema(), read_name(out.name))
      .optional("lock_wait_ms",
                "milliseconds to wait for other writers, and for answers of the database [5000]",
                config::number_schema(100, 60'000), read_time(out.lock_wait, 100, 60'000))
      .optional("hold_ms",
                "milliseconds after which the database ends a writer that has stopped [2000]",
                config::number_schema(100, 60'000), read_time(out.hold, 100, 60'000))
      .optional("lease_ms",
                "milliseconds without a sign of life after which a gateway counts as lost [10000]",
                config::number_schema(1'000, 600'000), read_time(out.lease, 1'000, 600'000))
      .optional("replicas", "how many standbys must have a commit on disk [0]",
                config::number_schema(0, 16),
                config::read_number(
                    0, 16, [&out](std::uint64_t n) { out.replicas = static_cast<int>(n); }))
      .optional("allow_plain_hosts", "hosts that may be reached without verified TLS",
                config::list_schema(config::text_schema(kLongestConfigName), kMostHosts),
                config::read_list(kMostHosts, [&out](const Place& place) -> Result<void> {
                  std::string host;
                  SALLYPORT_CHECK_OK(config::read_text(host, kLongestConfigName)(place));
                  out.plain_hosts.insert(host);
                  return {};
                }));
  return keys;
}

Result<void> check_ledger_with_store(const Place& ledger) {
  constexpr std::string_view kAllowed[] = {"store", "origin", "witness_path"};
  for (const config::YamlMember& member : ledger.node.members) {
    if (std::ranges::find(kAllowed, member.key.text) != std::end(kAllowed)) continue;
    return Place{member.key, ledger.file}.refuse(fmt::format(
        "`{}` is about a ledger in a file; with `store` the database sees to it{}", member.key.text,
        member.key.text == "retention"
            ? ", and `sallyport ledger erase` under the role of the keeper erases"
            : ""));
  }
  return {};
}

}  // namespace sallyport::app
