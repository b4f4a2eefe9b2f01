// Builds the JSON Schema of a tool input.
#pragma once

#include <initializer_list>

#include "sallyport/json.h"

namespace sallyport::agent {

enum class InputType { Text, Count, Flag };

struct InputMember {
  const char* name;
  InputType type;
  const char* about;
  bool required = false;
};

json::object schema_of(std::initializer_list<InputMember> members);

}  // namespace sallyport::agent
