// Data of authenticators and pages is refused, or understood and written back unchanged.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "trust/enrolments.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  using namespace sallyport::trust;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Ceremony asked{"challenge", "http://sallyport.localhost:8765",
                              "sallyport.localhost"};
  static const std::string client =
      R"({"type":"webauthn.create","challenge":"Y2hhbGxlbmdl","origin":"http://sallyport.localhost:8765"})";
  (void)new_credential(client, text, asked);
  (void)new_credential(text, "", asked);
  if (const Result<Assertion> read = Assertion::parse(text)) {
    SALLYPORT_INVARIANT(read->text() == text);
    (void)check_assertion(*read, {"ES256", std::string(text)}, asked);
  }
  if (const Result<Enrolment> read = Enrolment::parse(text)) {
    SALLYPORT_INVARIANT(Enrolment::parse(read->text())->text() == read->text());
  }
  return 0;
}
