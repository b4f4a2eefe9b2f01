// A finding of a guard, as an entry beside the record of the call.
#pragma once

#include "core/record/draft.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

// `excerpt` is committed to and never stored. An excerpt that the guard put into the body is stored
// like sealed content, unless the redactor of the storage would remove something from it.
Draft finding_row(Finding finding, const SharedSubject& subject);

}  // namespace sallyport::core
