#include "guards/detect/detector_table.h"

#include <array>

namespace sallyport::guards {

namespace {

struct Row {
  std::string_view name;
  Category category;
};

// In the order of the enumeration.
constexpr std::array<Row, kDetectorCount> kRows{{
    {"aws_access_key_id", Category::Secret},
    {"aws_secret_access_key", Category::Secret},
    {"github_token", Category::Secret},
    {"gitlab_token", Category::Secret},
    {"slack_token", Category::Secret},
    {"slack_webhook", Category::Secret},
    {"google_api_key", Category::Secret},
    {"gcp_service_account", Category::Secret},
    {"model_api_key", Category::Secret},
    {"stripe_key", Category::Secret},
    {"private_key_pem", Category::Secret},
    {"jwt", Category::Secret},
    {"bearer_header", Category::Secret},
    {"url_password", Category::Secret},
    {"password_assignment", Category::Secret},
    {"passphrase_assignment", Category::Secret},
    {"us_ssn", Category::Pii},
    {"credit_card", Category::Pii},
    {"email", Category::Pii},
    {"phone_e164", Category::Pii},
    {"iban", Category::Pii},
    {"private_ip", Category::Internal},
    {"high_entropy", Category::Secret},
}};

}  // namespace

std::string_view to_string(Category category) {
  switch (category) {
    case Category::Secret:
      return "secret";
    case Category::Pii:
      return "pii";
    case Category::Internal:
      return "internal";
  }
  return "secret";
}

std::string_view name_of(Detector detector) {
  return kRows[index_of(detector)].name;
}

Category category_of(Detector detector) {
  return kRows[index_of(detector)].category;
}

std::optional<Detector> detector_named(std::string_view name) {
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    if (kRows[i].name == name) return static_cast<Detector>(i);
  }
  return std::nullopt;
}

std::optional<Category> category_named(std::string_view name) {
  for (const Category category : {Category::Secret, Category::Pii, Category::Internal}) {
    if (to_string(category) == name) return category;
  }
  return std::nullopt;
}

DetectorSet default_detectors() {
  return DetectorSet().set().reset(index_of(Detector::HighEntropy));
}

DetectorSet detectors_of(Category category) {
  DetectorSet set;
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    if (kRows[i].category == category) set.set(i);
  }
  return set & default_detectors();
}

}  // namespace sallyport::guards
