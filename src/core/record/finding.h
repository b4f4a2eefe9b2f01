// A finding of a guard, as an entry beside the record of the call.
#pragma once

#include "core/record/draft.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

// `excerpt` is committed to and never stored. One that the guard has put into the body is stored as
// sealed content is, unless the storage's redactor would have to take something out of it.
Draft finding_row(Finding finding, const SharedSubject& subject);

}  // namespace sallyport::core
