"""An authorization server whose access tokens openssl signs, so that our code does not check its own signatures."""
import base64
import json
import subprocess
import time

from oauth_server import Authority

KINDS = {"EdDSA": ["-algorithm", "ED25519"], "ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
         "RS256": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}


def base64url(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).decode().rstrip("=")


def openssl(*words, data=None):
    return subprocess.run(["openssl", *map(str, words)], input=data, check=True, capture_output=True).stdout


def flat(der):
    """Returns both numbers of a signature side by side, without ASN.1."""
    numbers, at = [], 2
    while at < len(der):
        size = der[at + 1]
        numbers.append(int.from_bytes(der[at + 2:at + 2 + size], "big").to_bytes(32, "big"))
        at += 2 + size
    return b"".join(numbers)


class Key:
    def __init__(self, folder, name, algorithm="EdDSA"):
        self.name, self.algorithm, self.file = name, algorithm, folder / f"{name}.pem"
        self.message = folder / f"{name}.message"
        openssl("genpkey", *KINDS[algorithm], "-out", self.file)

    def jwk(self):
        der = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")
        if self.algorithm == "EdDSA":
            return {"kty": "OKP", "crv": "Ed25519", "kid": self.name, "x": base64url(der[-32:])}
        if self.algorithm == "ES256":
            return {"kty": "EC", "crv": "P-256", "kid": self.name, "x": base64url(der[-64:-32]), "y": base64url(der[-32:])}
        modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {"kty": "RSA", "kid": self.name, "use": "sig", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}

    def sign(self, text):
        if self.algorithm == "EdDSA":
            self.message.write_bytes(text)
            return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", self.message)
        made = openssl("dgst", "-sha256", "-sign", self.file, data=text)
        return flat(made) if self.algorithm == "ES256" else made

    def token(self, claims, **head):
        text = f"{base64url({'alg': self.algorithm, 'typ': 'at+jwt', 'kid': self.name, **head})}.{base64url(claims)}"
        return f"{text}.{base64url(self.sign(text.encode()))}"


class TokenAuthority(Authority):
    def __init__(self, folder, port=0):
        super().__init__(port)
        self.folder = folder
        self.key = Key(folder, "first")
        self.published = [self.key]

    def rotate(self, algorithm="EdDSA", keep=False):
        self.key = Key(self.folder, f"key-{time.monotonic_ns()}", algorithm)
        self.published = [*(self.published if keep else []), self.key]

    def describe(self):
        return {"jwks_uri": f"{self.origin}/jwks", "response_types_supported": ["code"], **super().describe()}

    def answer(self, http, path, query, body):
        if path == "/jwks" and path not in self.instead:
            return http.say(200, {"keys": [key.jwk() for key in self.published]})
        return super().answer(http, path, query, body)

    def claims(self, audience, **changes):
        """None removes a claim."""
        now = int(time.time())
        said = {"iss": self.origin, "aud": audience, "exp": now + 300, "iat": now, "sub": "dana", "client_id": "bot", "jti": str(now), **changes}
        return {name: value for name, value in said.items() if value is not None}

    def mint(self, audience, **changes):
        return self.key.token(self.claims(audience, **changes))

    def new_token(self, form, scope):
        return self.mint(form.get("resource"), client_id=form.get("client_id", "bot"), scope=scope)
