// One question as a person sees it: made from the bound input itself, hidden characters visible,
// and the binding at its end (AP-38, AP-39, AP-41). Secrets are as the ledger masked them, each
// with its size and place; an item that was revealed shows them.
#pragma once

#include <string>
#include <vector>

#include "people/approval_items.h"

namespace sallyport::app {

// Lines without line ends. `result` is null where nothing ran yet; `full` leaves nothing out.
std::vector<std::string> approval_page(const ApprovalItem& item, const json::value& result,
                                       bool full);

}  // namespace sallyport::app
