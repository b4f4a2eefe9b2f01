// JSON texts in, one a line; their RFC 8785 form out, or `error: ...`. For comparing with others.
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
