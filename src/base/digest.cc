#include "base/digest.h"

#include "base/running_digest.h"

namespace sallyport {

Hash sha256(std::initializer_list<std::string_view> parts) {
  RunningDigest digest;
  for (const std::string_view part : parts) digest.add(part);
  return digest.finish();
}

}  // namespace sallyport
