// Authenticates a client with a signature (`private_key_jwt`, RFC 7523).
#pragma once

#include <string>

#include "base/clock.h"
#include "base/entropy.h"
#include "sallyport/result.h"

namespace sallyport::oauth {

// 32 random bytes.
std::string random_text(Entropy& entropy);

// Valid for one minute. `InvalidInput`: `pem` is no private key of a supported kind (EC P-256, RSA,
// Ed25519).
Result<std::string> client_assertion(const std::string& pem, const std::string& client_id,
                                     const std::string& audience, WallTime now, Entropy& entropy);

}  // namespace sallyport::oauth
