#include "guards/detect/anchor_patterns.h"

#include <array>

#include "guards/detect/address_checks.h"
#include "guards/detect/assignment_checks.h"
#include "guards/detect/number_checks.h"
#include "guards/detect/private_key_check.h"
#include "guards/detect/token_checks.h"

namespace sallyport::guards {

namespace {

// Behind a name: its closing quote, a blank, or the sign itself. It keeps `tokens` and `secrets`
// in prose from being reported at all.
#define SALLYPORT_NAME_END R"re(["'`\\ \t:=])re"

constexpr auto kPatterns = std::to_array<AnchorPattern>({
    {Detector::AwsAccessKeyId, "A[KS]IA", false, 4, check_aws_access_key_id},
    {Detector::AwsSecretAccessKey,
     "(?:secret[_. -]?access[_. -]?key|aws[_. -]?secret(?:[_. -]?key)?)" SALLYPORT_NAME_END, true,
     1, check_aws_secret_access_key},
    {Detector::GithubToken, "gh[pousr]_", false, 4, check_github_token},
    {Detector::GithubToken, "github_pat_", false, 11, check_github_pat},
    {Detector::GitlabToken, "glpat-", false, 6, check_gitlab_token},
    {Detector::SlackToken, "xox[abeprs]-", false, 5, check_slack_token},
    {Detector::SlackWebhook, "https://hooks\\.slack\\.com/services/", true, 33,
     check_slack_webhook},
    {Detector::GoogleApiKey, "AIza", false, 4, check_google_api_key},
    {Detector::ModelApiKey, "sk-", false, 3, check_model_api_key},
    {Detector::StripeKey, "[sr]k_live_", false, 8, check_stripe_key},
    {Detector::PrivateKeyPem, "PRIVATE KEY", false, 11, check_private_key_pem},
    {Detector::Jwt, "\\.eyJ", false, 4, check_jwt},
    {Detector::BearerHeader, "bearer ", true, 7, check_bearer_header},
    {Detector::UrlPassword, "[a-z0-9]://", true, 4, check_url_password},
    {Detector::PasswordAssignment,
     "(?:password|passwd|pwd|secret|token|api[_-]?key)" SALLYPORT_NAME_END, true, 1,
     check_password_assignment},
    {Detector::PassphraseAssignment, "(?:password|passwd|passphrase)" SALLYPORT_NAME_END, true, 1,
     check_passphrase_assignment},
    {Detector::UsSsn, "[0-9]{3}-[0-9]{2}-[0-9]{4}", false, 11, check_us_ssn},
    {Detector::CreditCard, "\\b[0-9](?:[ -]?[0-9]){12}", false, 1, check_credit_card},
    {Detector::Email, "[A-Za-z0-9._%+-]@[A-Za-z0-9]", false, 3, check_email},
    {Detector::PhoneE164, "\\+[0-9]{8}", false, 9, check_phone_e164},
    {Detector::Iban, "\\b[A-Z]{2}[0-9]{2}[ A-Z0-9]", false, 5, check_iban},
    {Detector::PrivateIp, "10\\.[0-9]", false, 4, check_private_ipv4},
    {Detector::PrivateIp, "127\\.[0-9]", false, 5, check_private_ipv4},
    {Detector::PrivateIp, "192\\.168\\.[0-9]", false, 9, check_private_ipv4},
    {Detector::PrivateIp, "169\\.254\\.[0-9]", false, 9, check_private_ipv4},
    {Detector::PrivateIp, "172\\.(?:1[6-9]|2[0-9]|3[01])\\.[0-9]", false, 8, check_private_ipv4},
    {Detector::PrivateIp, "::1", false, 3, check_private_ipv6},
    {Detector::PrivateIp, "f[cd][0-9a-f]{2}:", true, 5, check_private_ipv6},
    {Detector::PrivateIp, "fe[89ab][0-9a-f]:", true, 5, check_private_ipv6},
});

#undef SALLYPORT_NAME_END

}  // namespace

std::span<const AnchorPattern> anchor_patterns() {
  return kPatterns;
}

}  // namespace sallyport::guards
