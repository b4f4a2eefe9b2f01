// Base64 for addresses and headers, under the name that this folder uses.
#pragma once

#include "base/base64url.h"

namespace sallyport::oauth {

using sallyport::base64url;
using sallyport::from_base64url;

}  // namespace sallyport::oauth
