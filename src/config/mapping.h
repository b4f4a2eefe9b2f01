// The keys of one section of a policy. One table reads the section and generates its JSON Schema.
//
//   Mapping keys("classification of a tool");
//   keys.required("tool", "name of the tool", text_schema(kLongest), read_text(tool, kLongest));
//   SALLYPORT_CHECK_OK(keys.read({node, file}));  // policy.yaml:7:3: unknown key `tol`, did ...
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml.h"
#include "sallyport/json.h"

namespace sallyport::config {

// A node and its file, so that errors can name the place.
struct Place {
  const YamlNode& node;
  const std::string& file;
  std::string name;  // the value in messages: "`key`". Empty: it has no name

  // "`key` must be a list"
  std::unexpected<Error> must_be(std::string_view rule) const;

  std::unexpected<Error> refuse(std::string message) const;
};

using ReadValue = std::function<Result<void>(const Place&)>;

class Mapping {
 public:
  explicit Mapping(std::string about) : about_(std::move(about)) {}

  Mapping& optional(std::string name, std::string about, json::object schema, ReadValue read);
  Mapping& required(std::string name, std::string about, json::object schema, ReadValue read);

  // An empty section is read as one without keys.
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

// Schemas and readers of common kinds of values.
json::object text_schema(std::size_t longest);
ReadValue read_text(std::string& out, std::size_t longest);
// A word of a command line: `8080` and `true` are texts here.
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

}  // namespace sallyport::config
