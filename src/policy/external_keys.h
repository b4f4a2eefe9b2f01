// The section `external:` of a policy (RU-64).
//
//   external:
//     - {id: dlp, kind: guard, command: [/usr/lib/dlp/check, --strict], when: {class: git.push}}
//     - {id: siem, kind: sink, url: "https://siem.example/records", header_env: {Authorization:
//     SIEM}}
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

json::object external_schema();
config::ReadValue read_external(Policy& out);

// Checks that need other sections: unknown classes. Call it last. `root` is the whole document.
Result<void> finish_external(const Policy& policy, const config::YamlNode& root,
                             const std::string& file);

}  // namespace sallyport::policy
