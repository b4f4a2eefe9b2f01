// Confirms numbers by their ranges, check digits and lengths.
#pragma once

#include "guards/detect/candidates.h"

namespace sallyport::guards {

void check_us_ssn(Candidates& found, Anchor at);       // `ddd-dd-dddd`
void check_credit_card(Candidates& found, Anchor at);  // ends at the 13th digit of a row, or later
void check_phone_e164(Candidates& found, Anchor at);   // `+` and eight digits
void check_iban(Candidates& found, Anchor at);         // `DE89` and one more

}  // namespace sallyport::guards
