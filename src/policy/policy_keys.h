// Every key of a policy. The same table reads policies and generates their schema.
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

// The readers write into `out`, which must outlive them.
config::Mapping policy_keys(Policy& out);

}  // namespace sallyport::policy
