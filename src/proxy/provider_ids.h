// Ids of state that a provider keeps, in requests and answers that pass unchecked: files, batches,
// conversations and the like (MP-25). Kinds are those of `OwnedState`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::proxy {

struct ProviderId {
  std::string kind{};
  std::string id{};

  bool operator==(const ProviderId&) const = default;
};

// The collection and the id in a path: `/v1/files/file-1/content` is `file` and `file-1`. The kind
// is empty if the path is in no known collection; the id is empty if the path names none.
ProviderId id_in_path(std::string_view path);
// False if the path leads to a part of the object: deleting a part keeps the object.
bool ends_at_id(std::string_view path);

// The ids that a body names, such as `input_file_id` of a batch.
std::vector<ProviderId> ids_in_body(const json::value& body);

// The ids in an answer: its own, of the kind of its collection, and those of files that the
// provider made for it.
std::vector<ProviderId> ids_in_answer(std::string_view kind, const json::value& answer);

}  // namespace sallyport::proxy
