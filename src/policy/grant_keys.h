// The section `grants:` of a policy: which calls need a grant, and which issuers are trusted.
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

config::Mapping grant_keys(Policy& out);
config::ReadValue read_grant_section(Policy& out);

}  // namespace sallyport::policy
