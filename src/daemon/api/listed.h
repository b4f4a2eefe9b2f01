// Lists that are small enough to be built whole, in the shape that all lists have.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "api/readers.h"
#include "api/route.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// One page of `rows`, which have a stable order. `list` names the route. `InvalidInput`: the limit
// or the cursor is none of this list.
Result<api::Response> listed(const api::Request& request, std::string_view list,
                             std::uint64_t tree_size, json::array rows);

// A list that is always returned whole.
api::Response whole_list(json::array items);

// The query parameters of a list, for documents.
std::vector<api::Parameter> list_parameters();

// Tool definitions and policy texts are sealed. Besides those who read sealed content, controllers
// read them: a decision needs the content it is about.
bool may_read_controls(const api::Person& person);

// A handler that reads one snapshot of the log.
using LookAtLog = std::function<Result<api::Response>(ledger::ReadView&, const api::Request&)>;
api::Read on_log(ledger::Ledger& ledger, LookAtLog look);

// A handler whose work is long, on a thread of the readers, which must outlive it.
using LongWork = std::function<Result<api::Response>(const api::Request&)>;
api::Act on_readers(api::Readers& readers, LongWork work);

}  // namespace sallyport::app
