#include "net/server_tls.h"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fstream>

#include "net/http_client.h"
#include "net/http_server.h"
#include "support/governed.h"
#include "support/temp_folder.h"

namespace sallyport::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

std::string text_of(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

// A self-signed certificate and its key.
ServerTls::Files made(const test::TempFolder& folder, const std::string& name,
                      const char* names = "DNS:localhost,IP:127.0.0.1",
                      const char* phrase = nullptr) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate, key, EVP_sha256());
  BIO* const certificate_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, certificate);
  BIO* const key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key, phrase != nullptr ? EVP_aes_256_cbc() : nullptr, nullptr,
                           0, nullptr, const_cast<char*>(phrase));
  X509_free(certificate);
  EVP_PKEY_free(key);
  const ServerTls::Files files{folder / (name + ".crt"), folder / (name + ".key")};
  std::ofstream(files.certificate) << text_of(certificate_text);
  std::ofstream(files.key) << text_of(key_text);
  std::filesystem::permissions(files.key, std::filesystem::perms(0600));
  return files;
}

class Hello final : public HttpHandler {
 public:
  Async<std::optional<ServerResponse>> refuse(ServerRequest&) override { co_return std::nullopt; }
  Async<void> handle(ServerExchange& exchange) override {
    if (exchange.request().query == "wait") {
      asio::steady_timer timer(co_await asio::this_coro::executor, 20s);
      exchange.on_gone([&] {
        ++gone;
        timer.cancel();
      });
      ++waiting;
      co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
      co_return;
    }
    if (exchange.request().query == "stream") {
      co_await exchange.begin({});
      for (int i = 0; i < 100; ++i) co_await exchange.write(std::string(10'000, 'x'));
      co_return;
    }
    co_await exchange.respond(
        ServerResponse::text(200, std::to_string(exchange.request().body.size())));
  }
  int waiting = 0;
  int gone = 0;
};

struct Bench {
  test::TempFolder folder;
  ServerTls::Files files{};
  Hello hello;
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;

  Result<std::unique_ptr<HttpClient>> client(const std::string& host, std::string ca_file,
                                             asio::any_io_executor executor) const {
    return HttpClient::open(
        executor, {.url = *Url::parse("https://" + host + ":" + std::to_string(port) + "/"),
                   .ca_file = std::move(ca_file)});
  }
};

void served(HttpLimits limits, std::function<Async<void>(Bench&)> work) {
  const auto all = [&]() -> Async<bool> {
    const auto executor = co_await asio::this_coro::executor;
    Bench bench;
    bench.files = made(bench.folder, "gate");
    bench.server = std::make_unique<HttpServer>(executor, limits, [](std::string_view) {});
    bench.server->route("/", bench.hello);
    bench.server->serve_tls(*ServerTls::load(bench.files));
    bench.port = *bench.server->listen("127.0.0.1", 0);
    TaskGroup group(executor, {});
    group.start(bench.server->run(2s));
    co_await work(bench);
    bench.server->stop();
    co_return co_await group.join(10s);
  };
  EXPECT_TRUE(test::run_now(all()));
}

Async<std::string> asked(HttpClient& client, HttpRequest request) {
  const auto exchange = client.exchange();
  const Result<HttpHead> head = co_await exchange->send(std::move(request), 5s);
  if (!head) co_return "error: " + head.error().message;
  const Result<std::string> body = co_await exchange->read_all(64u << 20, 5s);
  co_return body ? *body : "error: " + body.error().message;
}

Async<void> sleep(std::chrono::milliseconds longest) {
  asio::steady_timer timer(co_await asio::this_coro::executor, longest);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

using Peer = asio::ssl::stream<tcp::socket>;

struct Greeting {
  bool good = false;
  std::string version{};
  std::string protocol{};
};

// A handshake with these versions and this list of protocols.
Async<Greeting> greeted(std::uint16_t port, int least, int greatest, std::string protocols,
                        std::unique_ptr<Peer>* keep = nullptr) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), least);
  SSL_CTX_set_max_proto_version(context.native_handle(), greatest);
  SSL_CTX_set_security_level(context.native_handle(), 0);
  auto peer = std::make_unique<Peer>(co_await asio::this_coro::executor, context);
  if (!protocols.empty()) {
    SSL_set_alpn_protos(peer->native_handle(),
                        reinterpret_cast<const unsigned char*>(protocols.data()),
                        static_cast<unsigned>(protocols.size()));
  }
  co_await peer->next_layer().async_connect({asio::ip::address_v4::loopback(), port},
                                            asio::use_awaitable);
  const auto [error] = co_await peer->async_handshake(asio::ssl::stream_base::client,
                                                      asio::as_tuple(asio::use_awaitable));
  Greeting greeting{.good = !error, .version = SSL_get_version(peer->native_handle())};
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(peer->native_handle(), &chosen, &size);
  greeting.protocol.assign(reinterpret_cast<const char*>(chosen), size);
  if (keep != nullptr) *keep = std::move(peer);
  co_return greeting;
}

// MP-83 (partly), MP-21 (partly)
TEST(ServerTlsTest, RequestsBodiesAndStreamsPassOverTls) {
  served({}, [](Bench& bench) -> Async<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto client = *bench.client("localhost", bench.files.certificate.string(), executor);
    EXPECT_EQ(co_await asked(*client, {.body = "hello"}), "5");
    EXPECT_EQ(co_await asked(*client, {.body = std::string(8u << 20, 'x')}), "8388608");
    EXPECT_EQ((co_await asked(*client, {.method = "GET", .target = "/?stream"})).size(),
              1'000'000u);
    const auto by_number = *bench.client("127.0.0.1", bench.files.certificate.string(), executor);
    EXPECT_EQ(co_await asked(*by_number, {.body = "hello"}), "5");
  });
}

// MP-21
TEST(ServerTlsTest, AClientChecksWhoSignedTheCertificateAndWhoseItIs) {
  served({}, [](Bench& bench) -> Async<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto stranger = *bench.client("localhost", "", executor);
    EXPECT_TRUE((co_await asked(*stranger, {})).starts_with("error: no safe connection"));
    const ServerTls::Files other = made(bench.folder, "other", "DNS:gate.example.com");
    bench.server->serve_tls(*ServerTls::load(other));
    const auto misnamed = *bench.client("localhost", other.certificate.string(), executor);
    EXPECT_TRUE((co_await asked(*misnamed, {})).starts_with("error: no safe connection"));
    const auto bad = bench.client("localhost", (bench.folder / "no-such").string(), executor);
    EXPECT_FALSE(bad);
    if (!bad) EXPECT_EQ(bad.error().code, ErrorCode::InvalidInput);
  });
}

// MP-83: new connections see the new certificate, and the open one continues.
TEST(ServerTlsTest, ANewCertificateIsForNewConnections) {
  served({}, [](Bench& bench) -> Async<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto before = *bench.client("localhost", bench.files.certificate.string(), executor);
    EXPECT_EQ(co_await asked(*before, {.body = "1"}), "1");
    const ServerTls::Files next = made(bench.folder, "next");
    bench.server->serve_tls(*ServerTls::load(next));
    EXPECT_EQ(co_await asked(*before, {.body = "1"}), "1");
    const auto after = *bench.client("localhost", next.certificate.string(), executor);
    EXPECT_EQ(co_await asked(*after, {.body = "1"}), "1");
    const auto late = *bench.client("localhost", bench.files.certificate.string(), executor);
    EXPECT_TRUE((co_await asked(*late, {})).starts_with("error: "));
  });
}

// MP-83, MP-12: TLS 1.2 and 1.3, and no protocol but `http/1.1`.
TEST(ServerTlsTest, OldVersionsAndOtherProtocolsAreRefused) {
  served({}, [](Bench& bench) -> Async<void> {
    const std::string ours = "\x08http/1.1";
    const std::string both = "\x02h2\x08http/1.1";
    EXPECT_FALSE((co_await greeted(bench.port, TLS1_VERSION, TLS1_1_VERSION, ours)).good);
    const Greeting old = co_await greeted(bench.port, TLS1_2_VERSION, TLS1_2_VERSION, ours);
    EXPECT_TRUE(old.good);
    EXPECT_EQ(old.version, "TLSv1.2");
    const Greeting both_ways = co_await greeted(bench.port, TLS1_2_VERSION, TLS1_3_VERSION, both);
    EXPECT_TRUE(both_ways.good);
    EXPECT_EQ(both_ways.version, "TLSv1.3");
    EXPECT_EQ(both_ways.protocol, "http/1.1");
    EXPECT_TRUE((co_await greeted(bench.port, TLS1_2_VERSION, TLS1_3_VERSION, "")).good);
    EXPECT_FALSE((co_await greeted(bench.port, TLS1_2_VERSION, TLS1_2_VERSION, "\x02h2")).good);
  });
}

TEST(ServerTlsTest, AHandshakeHasADeadlineAndCountsAsAConnection) {
  served({.connections = 2, .header = 300ms}, [](Bench& bench) -> Async<void> {
    const auto executor = co_await asio::this_coro::executor;
    std::vector<std::unique_ptr<tcp::socket>> silent;
    for (int i = 0; i < 3; ++i) {
      silent.push_back(std::make_unique<tcp::socket>(executor));
      co_await silent.back()->async_connect({asio::ip::address_v4::loopback(), bench.port},
                                            asio::use_awaitable);
    }
    // The first one makes room for the third; all are closed in the end.
    for (const auto& socket : silent) {
      char byte = 0;
      const auto [error, size] = co_await socket->async_read_some(
          asio::buffer(&byte, 1), asio::as_tuple(asio::use_awaitable));
      EXPECT_TRUE(error);
    }
    const auto client = *bench.client("localhost", bench.files.certificate.string(), executor);
    EXPECT_EQ(co_await asked(*client, {.body = "1"}), "1");
  });
}

// MP-79 (partly): a TLS peer says goodbye before it disconnects, which looks like another request.
TEST(ServerTlsTest, AHandlerHearsThatItsPeerHasGoneOverTls) {
  served({}, [](Bench& bench) -> Async<void> {
    for (const bool polite : {true, false}) {
      std::unique_ptr<Peer> peer;
      co_await greeted(bench.port, TLS1_2_VERSION, TLS1_3_VERSION, "", &peer);
      const int before = bench.hello.gone;
      const std::string text = "GET /?wait HTTP/1.1\r\nHost: x\r\n\r\n";
      co_await asio::async_write(*peer, asio::buffer(text), asio::as_tuple(asio::use_awaitable));
      while (bench.hello.waiting == before) co_await sleep(5ms);
      if (polite) {
        peer->async_shutdown(asio::detached);
        co_await sleep(50ms);
        EXPECT_EQ(bench.hello.gone, before);
      }
      peer->next_layer().close();
      for (int i = 0; i < 200 && bench.hello.gone == before; ++i) co_await sleep(5ms);
      EXPECT_EQ(bench.hello.gone, before + 1);
    }
  });
}

// MP-83
TEST(ServerTlsTest, ABadFileIsRefusedWithWhatToDo) {
  test::TempFolder folder;
  const ServerTls::Files good = made(folder, "good");
  const auto loaded = ServerTls::load(good);
  ASSERT_TRUE(loaded);
  const auto left = (*loaded)->not_after() - std::chrono::system_clock::now();
  EXPECT_GT(left, 3500s);
  EXPECT_LE(left, 3600s);
  const ServerTls::Files other = made(folder, "other");
  const ServerTls::Files locked = made(folder, "locked", "DNS:localhost", "phrase");
  const auto why = [](const ServerTls::Files& files) {
    const auto tls = ServerTls::load(files);
    return tls ? std::string("good") : tls.error().message;
  };
  EXPECT_NE(why({good.certificate, other.key}).find("is not the key of the certificate"),
            std::string::npos)
      << why({good.certificate, other.key});
  EXPECT_NE(why({good.key, good.key}).find("no chain of certificates"), std::string::npos);
  EXPECT_NE(why({good.certificate, locked.key}).find("without a passphrase"), std::string::npos);
  EXPECT_NE(why({good.certificate, folder / "none"}).find("cannot be read"), std::string::npos);
  EXPECT_NE(why({folder.path(), good.key}).find("it is not a file"), std::string::npos);
  std::filesystem::permissions(good.key, std::filesystem::perms(0644));
  EXPECT_NE(why(good).find("(mode 0644); run `chmod 600 "), std::string::npos) << why(good);
  std::filesystem::permissions(good.key, std::filesystem::perms(0640));
  EXPECT_NE(why(good).find("chmod 600"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::net
