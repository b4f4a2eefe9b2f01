// Confirms secrets by the text before them: a name and `=` or `:`, or the user of a URL. The span
// is the value alone.
#pragma once

#include <optional>
#include <string_view>

#include "guards/detect/candidates.h"

namespace sallyport::guards {

// The anchor of all three ends one byte after the name.
void check_aws_secret_access_key(Candidates& found, Anchor at);
void check_password_assignment(Candidates& found, Anchor at);
// Several words after `password` or `passphrase`, to the end of the line or a delimiter. Prose
// (`password: must be changed`) is not a match.
void check_passphrase_assignment(Candidates& found, Anchor at);

// False: no value of a member with this name is a secret because of the name.
bool may_name_secret(std::string_view name);
// The same for a member of an object. Returns the detector that its whole string matches, if any.
std::optional<Detector> secret_of_member(std::string_view name, std::string_view value,
                                         const DetectorSet& wanted);

void check_url_password(Candidates& found, Anchor at);  // behind `scheme://`

}  // namespace sallyport::guards
