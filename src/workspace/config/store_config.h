// The section `ledger.store`: a log in PostgreSQL that gateways of several machines share.
//
//   ledger:
//     store:
//       postgresql: postgresql://gateway@db.example.com/audit?sslmode=verify-full
//       log: main                  # a database holds several
//       lock_wait_ms: 5000         # for the writers before this one, and for an answer
//       hold_ms: 2000              # after that the database ends a writer that stopped
//       lease_ms: 10000            # of a gateway that gives no sign of life
//       replicas: 0                # standbys that must have a commit on disk
//       allow_plain_hosts: [db]    # hosts that may be reached without verified TLS
#pragma once

#include "config/mapping.h"
#include "store/shared_log.h"

namespace sallyport::app {

config::Mapping store_keys(store::SharedLog& out);

// Refuses keys that only apply to a ledger in a file.
Result<void> check_ledger_with_store(const config::Place& ledger);

}  // namespace sallyport::app
