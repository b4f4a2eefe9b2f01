// A log in PostgreSQL, as the configuration names it.
#pragma once

#include <chrono>
#include <set>
#include <string>

namespace sallyport::store {

struct SharedLog {
  std::string url;            // postgresql://user@host:port/database?sslmode=verify-full
  std::string name = "main";  // a database holds several logs
  std::chrono::milliseconds lock_wait{5000};  // for the writers before this one
  std::chrono::milliseconds hold{2000};       // after that the database ends an idle writer
  std::chrono::milliseconds lease{10000};     // of a gateway that gives no sign of life
  int replicas = 0;                           // standbys that must have a commit on disk
  std::set<std::string> plain_hosts{};        // which may be reached without verified TLS
};

}  // namespace sallyport::store
