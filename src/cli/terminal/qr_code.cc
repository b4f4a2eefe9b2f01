#include "cli/terminal/qr_code.h"

#include <qrencode.h>

#include <memory>

namespace sallyport::app {

namespace {

constexpr int kQuiet = 4;  // modules that the standard asks for

class QrModules {
 public:
  explicit QrModules(const QRcode& code) : code_(code) {}
  int size() const { return code_.width + 2 * kQuiet; }
  // What lies outside the code is light.
  bool light(int row, int column) const {
    row -= kQuiet;
    column -= kQuiet;
    if (row < 0 || column < 0 || row >= code_.width || column >= code_.width) return true;
    return (code_.data[row * code_.width + column] & 1) == 0;
  }

 private:
  const QRcode& code_;
};

const char* block_of(bool upper, bool lower) {
  if (upper) return lower ? "█" : "▀";
  return lower ? "▄" : " ";
}

}  // namespace

Result<std::vector<std::string>> qr_lines(const std::string& text) {
  const std::unique_ptr<QRcode, decltype(&QRcode_free)> code(
      QRcode_encodeString8bit(text.c_str(), 0, QR_ECLEVEL_L), QRcode_free);
  if (!code) return fail(ErrorCode::InvalidInput, "the text does not fit into a QR code");
  const QrModules modules(*code);
  std::vector<std::string> lines;
  for (int row = 0; row < modules.size(); row += 2) {
    std::string line;
    for (int column = 0; column < modules.size(); ++column) {
      line += block_of(modules.light(row, column), modules.light(row + 1, column));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace sallyport::app
