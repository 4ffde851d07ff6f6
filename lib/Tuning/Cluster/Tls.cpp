//===- Tls.cpp - Encrypted connections between hosts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Tls.h"

#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

using namespace tessera::tuning;

static constexpr char identity[] = "tessera gpu-tune";
static constexpr char cipherName[] = "TLS_AES_256_GCM_SHA384";
/// The cipher's code in TLS 1.3.
static constexpr unsigned char cipherCode[] = {0x13, 0x02};

template <auto function> struct Free {
  template <typename T> void operator()(T *value) const { function(value); }
};
template <typename T, auto function>
using Handle = std::unique_ptr<T, Free<function>>;

/// The first error of this thread's queue, which is emptied.
static std::string takeError() {
  unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0)
    return "";
  const char *reason = ERR_reason_error_string(code);
  return reason ? reason : "error " + std::to_string(code);
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

// OpenSSL's own would raise SIGPIPE, and wait where the socket does.

static int getFile(BIO *bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
}

static int finishCall(BIO *bio, ssize_t done, int flag) {
  BIO_clear_retry_flags(bio);
  if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY);
  return static_cast<int>(done);
}

static int readSocket(BIO *bio, char *data, int size) {
  return finishCall(
      bio, recv(getFile(bio), data, static_cast<size_t>(size), MSG_DONTWAIT),
      BIO_FLAGS_READ);
}

static int writeSocket(BIO *bio, const char *data, int size) {
  return finishCall(bio,
                    send(getFile(bio), data, static_cast<size_t>(size),
                         MSG_NOSIGNAL | MSG_DONTWAIT),
                    BIO_FLAGS_WRITE);
}

static long controlSocket(BIO *, int command, long, void *) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static const BIO_METHOD *getSocketMethod() {
  static const BIO_METHOD *const method = [] {
    BIO_METHOD *made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made) {
      BIO_meth_set_read(made, readSocket);
      BIO_meth_set_write(made, writeSocket);
      BIO_meth_set_ctrl(made, controlSocket);
    }
    return made;
  }();
  return method;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

namespace {
class Session : public TlsSession {
public:
  explicit Session(SSL *ssl) : ssl(ssl) {}
  ~Session() override {
    // The other end is to see an end rather than a cut.
    if (isDone)
      (void)SSL_shutdown(ssl.get());
    ERR_clear_error();
  }

  State handshake() override;
  std::string getFailure() const override { return failure; }
  bool isOtherKey() const override { return isRejected; }
  ssize_t read(char *data, size_t size) override;
  ssize_t write(const char *data, size_t size) override;
  bool hasPending() const override { return SSL_pending(ssl.get()) > 0; }

private:
  ssize_t finish(int done);

  Handle<SSL, SSL_free> ssl;
  bool isDone = false, isRejected = false;
  std::string failure;
};
} // namespace

TlsSession::State Session::handshake() {
  ERR_clear_error();
  errno = 0;
  int done = SSL_do_handshake(ssl.get());
  if (done == 1) {
    // A session is resumed where the key was used: nothing else is accepted.
    isDone = SSL_session_reused(ssl.get()) == 1 &&
             SSL_version(ssl.get()) == TLS1_3_VERSION;
    if (isDone)
      return State::Done;
    isRejected = true;
    failure = "the handshake did not use the key";
    return State::Failed;
  }
  int kind = SSL_get_error(ssl.get(), done);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
    return State::Working;
  int number = errno;
  unsigned long code = ERR_peek_error();
  int reason = ERR_GET_REASON(code);
  if (kind == SSL_ERROR_SSL) {
    // Those from 1000 on are alerts of the other end.
    isRejected = reason >= SSL_AD_REASON_OFFSET ||
                 reason == SSL_R_BINDER_DOES_NOT_VERIFY ||
                 reason == SSL_R_CERTIFICATE_VERIFY_FAILED ||
                 reason == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM ||
                 reason == SSL_R_NO_SHARED_CIPHER;
    failure = takeError();
  } else {
    failure = number != 0 && kind == SSL_ERROR_SYSCALL ? std::strerror(number)
                                                       : "the connection ended";
  }
  return State::Failed;
}

ssize_t Session::finish(int done) {
  if (done > 0)
    return done;
  int kind = SSL_get_error(ssl.get(), done);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  ERR_clear_error();
  if (kind == SSL_ERROR_ZERO_RETURN)
    return 0;
  isDone = false;
  errno = ECONNRESET;
  return -1;
}

ssize_t Session::read(char *data, size_t size) {
  ERR_clear_error();
  return finish(SSL_read(ssl.get(), data,
                         static_cast<int>(std::min<size_t>(size, INT_MAX))));
}

ssize_t Session::write(const char *data, size_t size) {
  ERR_clear_error();
  return finish(SSL_write(ssl.get(), data,
                          static_cast<int>(std::min<size_t>(size, INT_MAX))));
}

//===----------------------------------------------------------------------===//
// The context
//===----------------------------------------------------------------------===//

namespace {
class Context : public TlsContext {
public:
  Context(SSL_CTX *context, bool isServer)
      : context(context), isServer(isServer) {}
  ~Context() override { OPENSSL_cleanse(secret, sizeof(secret)); }

  bool deriveSecret(const std::string &key);
  bool prepare();
  std::unique_ptr<TlsSession> connect(int file) override;

private:
  /// A session that stands for the key.
  SSL_SESSION *makeSession(SSL *ssl) const;
  static Context &get(SSL *ssl) {
    return *static_cast<Context *>(SSL_get_app_data(ssl));
  }
  static int findSession(SSL *ssl, const unsigned char *name, size_t size,
                         SSL_SESSION **session);
  static int useSession(SSL *ssl, const EVP_MD *digest,
                        const unsigned char **name, size_t *size,
                        SSL_SESSION **session);

  Handle<SSL_CTX, SSL_CTX_free> context;
  bool isServer;
  unsigned char secret[32] = {};
};
} // namespace

/// HKDF with SHA-256: a key is text of any length.
bool Context::deriveSecret(const std::string &key) {
  Handle<EVP_KDF, EVP_KDF_free> method(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  Handle<EVP_KDF_CTX, EVP_KDF_CTX_free> state(
      method ? EVP_KDF_CTX_new(method.get()) : nullptr);
  if (!state)
    return false;
  char digest[] = "SHA256", salt[] = "tessera gpu-tune",
       info[] = "cluster key 1";
  std::string text = key;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, text.data(),
                                        text.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt,
                                        sizeof(salt) - 1),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info,
                                        sizeof(info) - 1),
      OSSL_PARAM_construct_end()};
  bool isDerived =
      EVP_KDF_derive(state.get(), secret, sizeof(secret), parameters) == 1;
  OPENSSL_cleanse(text.data(), text.size());
  return isDerived;
}

SSL_SESSION *Context::makeSession(SSL *ssl) const {
  Handle<SSL_SESSION, SSL_SESSION_free> session(SSL_SESSION_new());
  const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipherCode);
  if (!session || !cipher ||
      !SSL_SESSION_set1_master_key(session.get(), secret, sizeof(secret)) ||
      !SSL_SESSION_set_cipher(session.get(), cipher) ||
      !SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION))
    return nullptr;
  return session.release();
}

int Context::findSession(SSL *ssl, const unsigned char *name, size_t size,
                         SSL_SESSION **session) {
  *session = nullptr;
  if (llvm::StringRef(reinterpret_cast<const char *>(name), size) != identity)
    return 1;
  *session = get(ssl).makeSession(ssl);
  return *session != nullptr;
}

int Context::useSession(SSL *ssl, const EVP_MD *digest,
                        const unsigned char **name, size_t *size,
                        SSL_SESSION **session) {
  *session = nullptr;
  // After a retry of the hello, the hash is settled, and is not this one's.
  if (digest && EVP_MD_get_size(digest) != 48)
    return 1;
  *session = get(ssl).makeSession(ssl);
  *name = reinterpret_cast<const unsigned char *>(identity);
  *size = sizeof(identity) - 1;
  return *session != nullptr;
}

bool Context::prepare() {
  SSL_CTX *raw = context.get();
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  // No server is trusted by a certificate; the server itself has none.
  SSL_CTX_set_verify(raw, isServer ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  SSL_CTX_set_max_cert_list(raw, 4096);
  if (isServer)
    SSL_CTX_set_psk_find_session_callback(raw, findSession);
  else
    SSL_CTX_set_psk_use_session_callback(raw, useSession);
  return SSL_CTX_set_num_tickets(raw, 0) == 1 &&
         SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_ciphersuites(raw, cipherName) == 1;
}

llvm::Expected<std::unique_ptr<TlsContext>>
TlsContext::create(const std::string &key, bool isServer) {
  // No configuration of the machine changes what is accepted.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  SSL_CTX *raw =
      SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method());
  if (raw) {
    auto context = std::make_unique<Context>(raw, isServer);
    if (context->deriveSecret(key) && context->prepare())
      return context;
  }
  return llvm::createStringError("OpenSSL cannot be set up: " + takeError());
}

std::unique_ptr<TlsSession> Context::connect(int file) {
  SSL *ssl = SSL_new(context.get());
  BIO *bio = getSocketMethod() ? BIO_new(getSocketMethod()) : nullptr;
  if (!ssl || !bio) {
    SSL_free(ssl);
    BIO_free(bio);
    return nullptr;
  }
  BIO_set_data(bio, reinterpret_cast<void *>( // NOLINT
                        static_cast<intptr_t>(file)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, this);
  if (isServer)
    SSL_set_accept_state(ssl);
  else
    SSL_set_connect_state(ssl);
  return std::make_unique<Session>(ssl);
}
