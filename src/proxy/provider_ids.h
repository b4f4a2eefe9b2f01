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

// The collection that a path is in, and the id that it names: `/v1/files/file-1/content` is `file`
// and `file-1`. The kind is empty where the path is in no such collection, the id where it names
// none.
ProviderId id_in_path(std::string_view path);

// Ids that a body names, such as `input_file_id` of a batch.
std::vector<ProviderId> ids_in_body(const json::value& body);

// Ids that an answer gives: its own, of the kind of its collection, and those of files that the
// provider made for it.
std::vector<ProviderId> ids_given(std::string_view kind, const json::value& answer);

}  // namespace sallyport::proxy
