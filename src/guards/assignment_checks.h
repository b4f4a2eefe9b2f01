// Confirms secrets that are known by what stands before them: a name and `=` or `:`, or the user of
// a URL. The span is the value alone.
#pragma once

#include "guards/candidates.h"

namespace sallyport::guards {

// The anchor of both ends one byte behind the name.
void check_aws_secret_access_key(Candidates& found, Anchor at);
void check_password_assignment(Candidates& found, Anchor at);

void check_url_password(Candidates& found, Anchor at);  // behind `scheme://`

}  // namespace sallyport::guards
