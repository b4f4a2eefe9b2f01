// Hides text from readers of files.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::core {

// Encrypts the data of a waiting call that no file may hold in clear text (AU-87). Every method may
// be called from any thread.
class Vault {
 public:
  virtual ~Vault() = default;

  virtual std::string encrypt(std::string_view text) = 0;
  // `Corrupt`: it was not encrypted here, or it was changed.
  virtual Result<std::string> decrypt(std::string_view sealed) const = 0;
};

}  // namespace sallyport::core
