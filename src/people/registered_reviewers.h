// Finds the people who are registered to approve and to control, for commands on a data folder.
//
// The people are those of `<data-dir>/reviewers.yaml`. If that file registers no one, they are
// those of the policies that gates on this data folder have loaded: the ledger keeps the source of
// each policy that names reviewers, and a digest of the list. A list that only the caller names
// proves nothing, so it counts only if its digest is the recorded one.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "policy/reviewer_file.h"
#include "trust/reviewers.h"
#include "workspace/context.h"

namespace sallyport::app {

// `named` is the policy of a gate on this data folder, or its reviewers.yaml; `Unauthenticated`: it
// is neither. If no list is found, no one is registered. `InvalidInput`, with its place: a list
// cannot be read. `NotFound`: a policy names people, and only that policy knows them.
Result<trust::Reviewers> registered_reviewers(
    const Context& context, const std::optional<std::filesystem::path>& named = std::nullopt);

// For checking old signatures: the people of the data folder, of the policies that were loaded, and
// of these files. The verifier chooses which lists to trust, so earlier lists may be among them,
// and one name may have several keys.
Result<trust::Reviewers> reviewers_of_all_times(const Context& context,
                                                const std::vector<std::filesystem::path>& files);

// The same for a file that may come from another machine: a configuration or list of this one that
// cannot be read names no person. Only an error of `files` is an error.
Result<trust::Reviewers> reviewers_for_file(const Context& context,
                                            const std::vector<std::filesystem::path>& files);

}  // namespace sallyport::app
