// The keys of one section of a policy: one table that reads it and that its JSON Schema is made of.
//
//   Mapping keys("what a tool is");
//   keys.required("tool", "name of the tool", text_schema(), read_text(entry.tool));
//   SALLYPORT_CHECK_OK(keys.read(node, file));   // `policy.yaml:7:3: unknown key `tol`, did you
//   ...`
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "policy/yaml.h"
#include "sallyport/json.h"

namespace sallyport::policy {

// A node and its file, for errors with a place.
struct Place {
  const YamlNode& node;
  const std::string& file;

  std::unexpected<Error> refuse(std::string message) const;
};

using ReadValue = std::function<Result<void>(const Place&)>;

class Mapping {
 public:
  explicit Mapping(std::string about) : about_(std::move(about)) {}

  Mapping& optional(std::string name, std::string about, json::object schema, ReadValue read);
  Mapping& required(std::string name, std::string about, json::object schema, ReadValue read);

  // An empty section is one in which nothing is said.
  Result<void> read(const Place& place) const;
  json::object schema() const;

 private:
  struct Key {
    std::string name;
    std::string about;
    json::object schema;
    ReadValue read;
    bool required;
  };
  std::string about_;
  std::vector<Key> keys_;
};

// Values that many keys have, each as a schema and a reader.
json::object text_schema(std::size_t longest);
ReadValue read_text(std::string& out, std::size_t longest);
// Of a command line, where `8080` and `true` are words like others.
json::object word_schema(std::size_t longest);
ReadValue read_word(std::string& out, std::size_t longest);
json::object choice_schema(const std::vector<std::string>& words);
ReadValue read_choice(std::vector<std::string> words, std::function<void(std::size_t)> take);
json::object number_schema(std::uint64_t least, std::uint64_t greatest);
ReadValue read_number(std::uint64_t least, std::uint64_t greatest,
                      std::function<void(std::uint64_t)> take);
json::object truth_schema();
ReadValue read_truth(bool& out);
json::object list_schema(json::object items, std::size_t most);
ReadValue read_list(std::size_t most, ReadValue read_item);

}  // namespace sallyport::policy
