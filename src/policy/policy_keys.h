// Every key of a policy. The same table reads policies and generates their schema.
#pragma once

#include "policy/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

// The readers write into `out`, which must outlive them.
Mapping policy_keys(Policy& out);

}  // namespace sallyport::policy
