// The detectors of PI-54, in the order of its table. Of two equally long matches, the one that is
// first here wins (PI-52).
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sallyport::guards {

enum class Category : std::uint8_t { Secret, Pii, Internal };

std::string_view to_string(Category category);

enum class Detector : std::uint8_t {
  AwsAccessKeyId,
  AwsSecretAccessKey,
  GithubToken,
  GitlabToken,
  SlackToken,
  SlackWebhook,
  GoogleApiKey,
  GcpServiceAccount,  // a shape of JSON, not of text: see service_account.h
  ModelApiKey,
  StripeKey,
  PrivateKeyPem,
  Jwt,
  BearerHeader,
  UrlPassword,
  PasswordAssignment,
  PassphraseAssignment,
  UsSsn,
  CreditCard,
  Email,
  PhoneE164,
  Iban,
  PrivateIp,
  HighEntropy,  // off unless asked for
};

inline constexpr std::size_t kDetectorCount = static_cast<std::size_t>(Detector::HighEntropy) + 1;

constexpr std::size_t index_of(Detector detector) {
  return static_cast<std::size_t>(detector);
}

using DetectorSet = std::bitset<kDetectorCount>;

std::string_view name_of(
    Detector detector);  // `aws_access_key_id`, as policies and evidence say it
Category category_of(Detector detector);

// No value for a name that is not in the table.
std::optional<Detector> detector_named(std::string_view name);
std::optional<Category> category_named(std::string_view name);

DetectorSet default_detectors();              // all but `high_entropy`
DetectorSet detectors_of(Category category);  // of the default ones

}  // namespace sallyport::guards
