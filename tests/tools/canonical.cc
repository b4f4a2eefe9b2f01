// Reads JSON texts, one a line, and prints their RFC 8785 form or `error: ...`, for comparisons.
#include <iostream>
#include <string>

#include "sallyport/json.h"

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    const sallyport::Result<sallyport::ParsedJson> parsed = sallyport::parse_json(line);
    std::cout << (parsed ? sallyport::canonical_json(parsed->value)
                         : "error: " + parsed.error().message)
              << '\n';
  }
  return 0;
}
