// Confirms addresses of people and of internal machines.
#pragma once

#include "guards/detect/candidates.h"

namespace sallyport::guards {

void check_email(Candidates& found, Anchor at);         // `@` and its two neighbours
void check_private_ipv4(Candidates& found, Anchor at);  // a private prefix and one digit
void check_private_ipv6(Candidates& found, Anchor at);  // `::1` or `fd00:`

}  // namespace sallyport::guards
