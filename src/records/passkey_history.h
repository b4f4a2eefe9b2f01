// For `ledger verify`: the passkeys of each person at each moment of the log. Checks that answers
// were signed with one that counted at that moment (CO-19, CO-21).
#pragma once

#include "ledger/proof/verify.h"
#include "trust/control.h"

namespace sallyport::app {

// `reviewers` may name one person several times, with keys of different times.
ledger::CheckPasskeys passkeys_of(trust::Reviewers reviewers);

}  // namespace sallyport::app
