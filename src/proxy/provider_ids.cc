#include "proxy/provider_ids.h"

#include <array>
#include <boost/json.hpp>
#include <utility>

#include "llm/wire_json.h"

namespace sallyport::proxy {

namespace {

constexpr std::size_t kMostGiven = 256;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCollections{{
    {"/v1/files", "file"},
    {"/v1/batches", "batch"},
    {"/v1/messages/batches", "batch"},
    {"/v1/uploads", "upload"},
    {"/v1/conversations", "conversation"},
    {"/v1/containers", "container"},
    {"/v1/vector_stores", "vector_store"},
    {"/v1/videos", "video"},
    {"/v1/threads", "thread"},
    {"/v1/assistants", "assistant"},
    {"/v1/chat/completions", "completion"},
}};

// The kind of the collection of a path, and what follows its name; no kind: none is known.
std::pair<std::string_view, std::string_view> collection_of(std::string_view path) {
  for (const auto& [collection, kind] : kCollections) {
    if (!path.starts_with(collection)) continue;
    const std::string_view rest = path.substr(collection.size());
    if (rest.empty() || rest.front() == '/') return {kind, rest};
  }
  return {};
}

// The kind of the ids in a member; empty: the member has no ids.
std::string_view kind_of_member(std::string_view name) {
  if (name.ends_with("file_id") || name.ends_with("file_ids")) return "file";
  for (const auto& [path, kind] : kCollections) {
    const bool names = name.starts_with(kind) && kind != "completion";
    const std::string_view rest = names ? name.substr(kind.size()) : std::string_view();
    if (rest == "_id" || rest == "_ids") return kind;
  }
  return name == "conversation" ? "conversation" : "";
}

void add(std::vector<ProviderId>& ids, std::string_view kind, const json::value& value) {
  if (const json::string* const text = value.if_string(); text && !text->empty()) {
    ids.push_back({std::string(kind), std::string(*text)});
  } else if (const json::array* const list = value.if_array()) {
    for (const json::value& one : *list) add(ids, kind, one);
  } else if (const std::string_view id = llm::text_in(value, "id"); !id.empty()) {
    ids.push_back({std::string(kind), std::string(id)});
  }
}

void collect(std::vector<ProviderId>& ids, const json::value& value) {
  if (const json::array* const list = value.if_array()) {
    for (const json::value& one : *list) collect(ids, one);
  }
  const json::object* const object = value.if_object();
  if (object == nullptr) return;
  for (const auto& [name, member] : *object) {
    if (const std::string_view kind = kind_of_member(name); !kind.empty()) {
      add(ids, kind, member);
    } else {
      collect(ids, member);
    }
  }
}

}  // namespace

ProviderId id_in_path(std::string_view path) {
  auto [kind, rest] = collection_of(path);
  if (!rest.empty()) rest.remove_prefix(1);
  return {std::string(kind), std::string(rest.substr(0, rest.find('/')))};
}

bool ends_at_id(std::string_view path) {
  std::string_view rest = collection_of(path).second;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  return rest.size() > 1 && rest.rfind('/') == 0;
}

std::vector<ProviderId> ids_in_body(const json::value& body) {
  std::vector<ProviderId> ids;
  collect(ids, body);
  return ids;
}

std::vector<ProviderId> ids_in_answer(std::string_view kind, const json::value& answer) {
  std::vector<ProviderId> ids;
  if (const std::string_view id = llm::text_in(answer, "id"); !kind.empty() && !id.empty()) {
    ids.push_back({std::string(kind), std::string(id)});
  }
  if (const json::object* const object = answer.if_object()) {
    for (const auto& [name, member] : *object) {
      // `output_file_id` of a batch, `file` of an upload.
      if (name.ends_with("_file_id") || (name == "file" && member.is_object())) {
        add(ids, "file", member);
      }
    }
  }
  if (ids.size() > kMostGiven) ids.resize(kMostGiven);
  return ids;
}

}  // namespace sallyport::proxy
