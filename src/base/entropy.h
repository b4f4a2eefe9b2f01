// Randomness is a parameter. Salts, keys and ids come from the system's generator.
#pragma once

#include <cstdint>
#include <span>

namespace sallyport {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;  // from any thread
};

class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override;
};

}  // namespace sallyport
