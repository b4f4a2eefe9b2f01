#include "net/server_tls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <boost/asio/ssl/context.hpp>
#include <cstring>
#include <string>

#include "base/try.h"

namespace sallyport::net {

namespace {

constexpr std::size_t kLargestFile = 1u << 20;

// The bytes of a file, and the status of the same open file.
struct FileText {
  std::string text;
  struct stat status;
};

// `key` of the configuration names the file.
Result<FileText> text_of(const std::filesystem::path& file, std::string_view key) {
  const auto failed = [&](std::string_view why) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` cannot be read: {}; correct `tls.{}`", file.string(), why, key));
  };
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed(std::strerror(errno));
  FileText out{std::string(kLargestFile, '\0'), {}};
  ssize_t size = ::fstat(fd, &out.status);
  if (size == 0 && S_ISREG(out.status.st_mode)) size = ::read(fd, out.text.data(), kLargestFile);
  const int error = errno;
  ::close(fd);
  if (size < 0) return failed(std::strerror(error));
  if (!S_ISREG(out.status.st_mode)) return failed("it is not a file");
  if (static_cast<std::size_t>(size) == kLargestFile) return failed("it is over 1 MiB");
  out.text.resize(static_cast<std::size_t>(size));
  return out;
}

// A file of root may be readable by the group of this process, as certificate packages set it up.
Result<void> check_mode(const struct stat& status, const std::filesystem::path& file) {
  const bool lent = status.st_uid == 0 && ::geteuid() != 0;
  const unsigned refused = lent ? 0027 : 0077;
  if ((status.st_mode & refused) == 0) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("other users may use the key in `{}` (mode {:04o}); run `chmod 600 {}`",
                          file.string(), status.st_mode & 07777, file.string()));
}

std::chrono::system_clock::time_point end_of(const X509* certificate) {
  tm parts{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) {
    return {};
  }
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

// Chooses `http/1.1`, or no protocol.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found =
      SSL_select_next_proto(&chosen, size, kOurs, sizeof kOurs - 1, offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool set_up(SSL_CTX* context) {
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

}  // namespace

ServerTls::ServerTls()
    : context_(std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server)) {
}
ServerTls::~ServerTls() = default;

Result<std::unique_ptr<ServerTls>> ServerTls::load(const Files& files) {
  SALLYPORT_TRY(const FileText chain, text_of(files.certificate, "cert_file"));
  SALLYPORT_TRY(const FileText key, text_of(files.key, "key_file"));
  SALLYPORT_CHECK_OK(check_mode(key.status, files.key));
  std::unique_ptr<ServerTls> tls(new ServerTls());
  boost::asio::ssl::context& context = *tls->context_;
  if (!set_up(context.native_handle())) {
    return fail(ErrorCode::Internal, "TLS cannot be set up");
  }
  boost::system::error_code error;
  // No person is there to enter a passphrase.
  context.set_password_callback([](std::size_t, auto) { return std::string(); }, error);
  const auto refused = [](const std::filesystem::path& file, std::string_view problem) {
    ERR_clear_error();
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` {}", file.string(), problem));
  };
  context.use_certificate_chain(boost::asio::buffer(chain.text), error);
  if (error) return refused(files.certificate, "holds no chain of certificates in PEM");
  context.use_private_key(boost::asio::buffer(key.text), boost::asio::ssl::context::pem, error);
  if (error &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_VALUES_MISMATCH) {
    return refused(files.key, fmt::format("is not the key of the certificate in `{}`",
                                          files.certificate.string()));
  }
  if (error) return refused(files.key, "holds no private key in PEM without a passphrase");
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return refused(files.key, fmt::format("is not the key of the certificate in `{}`",
                                          files.certificate.string()));
  }
  tls->not_after_ = end_of(SSL_CTX_get0_certificate(context.native_handle()));
  return tls;
}

}  // namespace sallyport::net
