#!/usr/bin/env python3
"""The proxy with an empty policy passes requests to the provider and answers to the client unchanged."""
import base64
import gzip
import http.client
import json
import random
import socket
import unittest
import urllib.parse
import zlib

import model_answers
from model_answers import APIS, CHAT, MESSAGES, MODELS, PATHS, RESPONSES, Answer, say
from model_provider import STREAM, Provider, Reply
from model_support import AGENT, KEY, ModelTest, guard, guards, in_turn, question, send

# Headers that the proxy itself sets or removes (MP-6, MP-7).
OWN_REQUEST = {"host", "content-length", "accept-encoding", "connection", "authorization", "x-api-key", "transfer-encoding"}
OWN_RESPONSE = {"content-length", "transfer-encoding", "connection", "date", "server"}
BOB = AGENT["agent:bob"]


def kept(headers, own):
    """Returns lower-case names and values in order, without the headers that the proxy owns or adds."""
    return [(name.lower(), value) for name, value in headers if name.lower() not in own and not name.lower().startswith("x-sallyport-")]


def error_of(test, api, answered):
    """Returns type and code of an error in the shape of this API."""
    body = answered.json()
    if api == MESSAGES:
        test.assertEqual((body["type"], set(body) - {"request_id"}), ("error", {"type", "error"}), body)
        test.assertTrue(isinstance(body["error"]["type"], str) and isinstance(body["error"]["message"], str), body)
        return body["error"]["type"]
    test.assertEqual(set(body), {"error"}, body)
    test.assertEqual(set(body["error"]), {"message", "type", "param", "code"}, body)
    return body["error"]["type"]


class Spelling:
    """Writes JSON in one of its many equivalent spellings."""

    def __init__(self, chance):
        self.chance = chance

    def blank(self):
        return self.chance.choice(["", "", "", " ", "\n  ", "\t", "\r\n"])

    def string(self, text):
        made = []
        for letter in text:
            if letter in '"\\' or ord(letter) < 32:
                made.append(json.dumps(letter)[1:-1])
            elif self.chance.random() < 0.05 and ord(letter) < 0x10000:
                made.append(self.chance.choice(["\\u%04x", "\\u%04X"]) % ord(letter))
            else:
                made.append(letter)
        return '"' + "".join(made) + '"'

    def write(self, value):
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list):
            return "[" + ",".join(self.blank() + self.write(one) + self.blank() for one in value) + "]"
        if isinstance(value, dict):
            return "{" + ",".join(self.blank() + self.string(name) + self.blank() + ":" + self.blank() + self.write(one) + self.blank()
                                  for name, one in value.items()) + "}"
        if value is None or isinstance(value, bool) or value == 1024:  # a limit that the proxy reads stays a plain number
            return json.dumps(value)
        return self.chance.choice([str(value), f"{value}.0", f"{value}.500", f"{value}e0", f"{value}E+02"])


def some_value(chance, depth=3):
    kind = chance.choice("sssnblo" if depth else "snb")
    if kind == "s":
        return "".join(chance.choice("abc xyz 0123 äß世界🦊\"\\\n\t/") for _ in range(chance.randrange(12)))
    if kind == "n":
        return chance.randrange(1000)
    if kind == "b":
        return chance.choice([True, False, None])
    if kind == "l":
        return [some_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {f"k{n}": some_value(chance, depth - 1) for n in range(chance.randrange(4))}


def some_request(chance):
    """Returns path with query, headers and body that a present or future client could send."""
    api = chance.choice(APIS)
    body = question(api, str(some_value(chance, 0)), stream=chance.choice([None, False, True]))
    text = {MESSAGES: "text", CHAT: "text", RESPONSES: "input_text"}[api]
    if chance.random() < 0.5:
        said = body["messages" if api != RESPONSES else "input"]
        said[0]["content"] = [{"type": text, "text": "part", "cache_control": {"type": "ephemeral", "ttl": "1h"}, "x_new": some_value(chance)}]
    body |= {f"new_{n}": some_value(chance) for n in range(chance.randrange(4))}
    members = list(body.items())
    chance.shuffle(members)
    query = chance.choice(["", "", "?beta=true", "?a=1&b=%2F&a=2", "?x"])
    headers = [("Content-Type", chance.choice(["application/json", "application/json; charset=utf-8"])), ("User-Agent", "peer/1.0"),
               ("Accept", chance.choice(["application/json", "*/*", "text/event-stream"]))]
    if api == MESSAGES:
        headers += [("anthropic-version", "2023-06-01"), ("anthropic-beta", "interleaved-thinking-2025-05-14,context-1m-2025-08-07")]
    for n in range(chance.randrange(4)):
        headers.append((chance.choice(["X-Stainless-Lang", "OpenAI-Organization", "anthropic-beta", "x-new-Header", "Idempotency-Key", "OpenAI-Beta"]), f"value {n}; a=\"b\""))
    return api, PATHS[api] + query, headers, Spelling(chance).write(dict(members)).encode()


class Requests(ModelTest):
    # MP-2, MP-4, MP-6
    def test_two_hundred_requests_reach_the_provider_as_they_were_sent(self):
        chance = random.Random(18)
        provider = Provider(self)
        proxy = self.proxy(provider)
        where = urllib.parse.urlsplit(proxy.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self.addCleanup(connection.close)
        for number in range(200):
            api, target, headers, body = some_request(chance)
            provider.clear()
            direct = send(provider.url, "POST", target, body, headers)
            token = ("x-api-key", proxy.token) if api == MESSAGES else ("Authorization", f"Bearer {proxy.token}")
            through = send(proxy.url, "POST", target, body, [*headers, token], connection)
            with self.subTest(number=number, target=target):
                self.assertEqual(through.status, 200, through.body)
                plain, proxied = provider.requests
                self.assertEqual((proxied.method, proxied.target, proxied.body), (plain.method, plain.target, plain.body))
                self.assertEqual(sorted(kept(proxied.headers, OWN_REQUEST)), sorted(kept(plain.headers, OWN_REQUEST)))
                self.assertEqual(through.body, direct.body)

    # MP-6
    def test_headers_of_the_hop_and_of_the_agent_stay_here(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        private = [("Connection", "keep-alive, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"), ("TE", "trailers"), ("Proxy-Authorization", "Basic eA=="),
                   ("Cookie", "a=b"), ("Forwarded", "for=1.2.3.4"), ("X-Forwarded-For", "1.2.3.4"), ("X-Forwarded-Proto", "https"),
                   ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("tracestate", "a=1"), ("baggage", "k=v"),
                   ("x-sallyport-note", "1"), ("Accept-Encoding", "gzip, br")]
        self.assertEqual(proxy.ask(CHAT, headers=private).status, 200)
        asked = provider.request()
        names = {name.lower() for name, _ in asked.headers}
        self.assertEqual(names & {name.lower() for name, _ in private} - {"connection", "accept-encoding"}, set())
        self.assertNotIn(proxy.token, str(asked.headers))
        self.assertEqual((asked.header("accept-encoding"), asked.header("host")), ("identity", provider.url.removeprefix("http://")))  # MP-11

    # MP-17, MP-18
    def test_the_provider_gets_its_key_and_never_the_token(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        token = proxy.token
        for headers in ([("x-api-key", token)], [("Authorization", f"Bearer {token}")], [("x-sallyport-token", token), ("Authorization", "Bearer other")],
                        [("x-sallyport-token", token), ("x-api-key", "other")], [("Authorization", f"Bearer {token}"), ("x-api-key", "other")]):
            for api in APIS:
                provider.clear()
                answered = send(proxy.url, "POST", PATHS[api], question(api), [("content-type", "application/json"), *headers])
                with self.subTest(headers=headers, api=api):
                    self.assertEqual(answered.status, 200, answered.body)
                    asked = provider.request()
                    self.assertEqual((asked.header("x-api-key"), asked.header("authorization")), (KEY, None) if api == MESSAGES else (None, f"Bearer {KEY}"))
                    self.assertNotIn(token, str(asked.headers))
        self.assertEqual({entry["agent_id"] for entry in proxy.entries(count=15)}, {"agent:ada"})

    # MP-17
    def test_a_wrong_token_gets_401_in_the_shape_of_the_api(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        token = proxy.token
        for headers in ([], [("x-api-key", "wrong")], [("Authorization", "Bearer wrong")], [("Authorization", f"Basic {token}")], [("x-sallyport-token", "wrong"), ("x-api-key", token)],
                        [("x-api-key", token), ("x-api-key", token)], [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]):
            for api in APIS:
                answered = send(proxy.url, "POST", PATHS[api], question(api), [("content-type", "application/json"), *headers])
                with self.subTest(headers=headers, api=api):
                    self.assertEqual(answered.status, 401)
                    error_of(self, api, answered)
        self.assertEqual(provider.requests, [])

    # MP-16
    def test_equal_requests_are_two_requests(self):
        provider = Provider(self, Answer(say("one")), Answer(say("two")))
        proxy = self.proxy(provider)
        self.assertEqual([proxy.ask(CHAT).json()["choices"][0]["message"]["content"] for _ in range(2)], ["one", "two"])
        self.assertEqual(len(provider.requests), 2)

    # MP-20
    def test_a_client_cannot_choose_the_address_and_a_redirect_is_not_followed(self):
        other = Provider(self)
        provider = Provider(self, otherwise=Reply(b"{}", status=307, headers=[("location", other.url + "/v1/chat/completions")], framing="length"))
        proxy = self.proxy(provider)
        named = [("x-forwarded-host", other.url), ("x-upstream", other.url), ("openai-base-url", other.url)]
        for api in APIS:
            answered = proxy.ask(api, headers=named, base_url=other.url, url=other.url)
            self.assertEqual(answered.status, 502, answered.body)
            self.assertIsNone(answered.header("location"))
            error_of(self, api, answered)
        self.assertEqual((len(provider.requests), other.requests), (3, []))

    # MP-13
    def test_a_body_that_can_be_read_in_two_ways_gets_400(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            good = json.dumps(question(api)).encode()
            deep = good[:-1] + b', "deep": ' + b"[" * 129 + b"]" * 129 + b"}"
            for body in (b'{"model": "a", ' + good[1:], good.replace(b'"role"', b'"content": "x", "role"'), good + b" {}", good + b"x", good.replace(b"hello", b"h\xff"), deep, b"", b"[]",
                         good[:-1], b'"text"', b"\xef\xbb\xbf\xff" + good):
                answered = proxy.ask(api, body)
                with self.subTest(api=api, body=body[:60]):
                    self.assertEqual(answered.status, 400, answered.body)
                    error_of(self, api, answered)
            self.assertEqual(provider.requests, [])
            lone = good.replace(b"hello", b"a\\ud800b")
            self.assertEqual(proxy.ask(api, lone).status, 200)
            self.assertEqual(provider.request().body, lone)
            provider.clear()


class Codings(ModelTest):
    BODY = b'{"model":"gpt-5-mini","messages":[{"role":"user","content":"hello"}]}'
    BROTLI = "G0QAkJwFdpsyN1dWTNlzzxEqvUX24LZWzVnrsHT1TZEWOo+xc4ZHDNOYkqZHKV96nhA8/vQUKcfSEmiRsFDfAQ=="
    ZSTANDARD = "KLUv/SBFDQIAUkQPF6C1GQM1fELAy66ASAoje9UFzxPD/zAEbWhrJh7fK+FKWkxWuIFvTFUz4V40xC6iyScdVIKyAOY70VA0CwA="

    # MP-10
    def test_coded_requests_are_sent_on_decoded(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for coding, body in (("gzip", gzip.compress(self.BODY)), ("deflate", zlib.compress(self.BODY)), ("br", base64.b64decode(self.BROTLI)),
                             ("zstd", base64.b64decode(self.ZSTANDARD))):
            provider.clear()
            with self.subTest(coding=coding):
                self.assertEqual(proxy.ask(CHAT, body, headers=[("content-encoding", coding)]).status, 200)
                asked = provider.request()
                self.assertEqual((asked.body, asked.header("content-encoding"), asked.header("content-length")), (self.BODY, None, str(len(self.BODY))))

    # MP-10
    def test_codings_that_cannot_be_decoded_are_refused(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        good = gzip.compress(self.BODY)
        bomb = gzip.compress(b'{"model":"gpt-5-mini","messages":[],"pad":"' + b" " * (64 << 20) + b'"}')
        for status, coding, body in ((415, "compress", good), (415, "rot13", self.BODY), (400, "gzip", good[:-9]), (400, "gzip", self.BODY), (400, "br", good), (400, "zstd", good),
                                     (413, "gzip", bomb)):
            with self.subTest(coding=coding, status=status):
                answered = proxy.ask(CHAT, body, headers=[("content-encoding", coding)])
                self.assertEqual(answered.status, status, answered.body)
                error_of(self, CHAT, answered)
        self.assertEqual(provider.requests, [])

    # MP-10: of two headers neither counted, and the body went upstream as it came
    def test_two_headers_are_one_list_of_codings(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        twice = gzip.compress(zlib.compress(self.BODY))
        for status, body, codings in ((200, twice, ("deflate", "gzip")), (200, gzip.compress(self.BODY), ("gzip", "identity")), (400, self.BODY, ("gzip", "br")),
                                      (415, self.BODY, ("identity", "rot13"))):
            with self.subTest(codings=codings):
                provider.clear()
                self.assertEqual(proxy.ask(CHAT, body, headers=[("content-encoding", coding) for coding in codings]).status, status)
                self.assertEqual([asked.body for asked in provider.requests], [self.BODY] if status == 200 else [])

    # MP-10, MP-66, MP-78
    def test_a_body_over_the_limit_is_refused_in_the_shape_of_the_api_and_recorded(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        body = b'{"model":"claude-opus-5","pad":"' + b" " * (64 << 20) + b'"}'
        for api in APIS:
            answered = proxy.ask(api, body)
            with self.subTest(api=api):
                self.assertEqual((answered.status, answered.header("x-should-retry")), (413, "false"))
                error_of(self, api, answered)
                self.assertEqual((proxy.audit()["status"], proxy.audit()["request_id"]), (413, answered.header("x-sallyport-record")))
        self.assertEqual(provider.requests, [])

    # MP-11
    def test_coded_answers_reach_the_client_decoded(self):
        for api in APIS:
            answer = Answer(say("decoded text"))
            for stream in (False, True):
                plain = answer.stream(api) if stream else answer.json(api)
                for coding, body in (("gzip", gzip.compress(plain)), ("deflate", zlib.compress(plain))):
                    with self.subTest(api=api, stream=stream, coding=coding):
                        provider = Provider(self, Reply.cut(body, range(0, len(body), 7), type=STREAM if stream else "application/json", headers=[("content-encoding", coding)]))
                        proxy = self.shared(provider)
                        answered = proxy.ask(api, stream=stream)
                        self.assertEqual((answered.status, answered.header("content-encoding")), (200, None), answered.body)
                        self.assertEqual(answered.body, plain)

    def shared(self, provider):
        if not hasattr(self, "front"):
            self.back = Provider(self, otherwise=lambda request: self.behind.take(request))
            self.front = self.proxy(self.back)
        self.behind = provider
        return self.front

    # MP-12
    def test_a_client_that_waits_for_100_gets_it_and_trailers_are_dropped(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        where = urllib.parse.urlsplit(proxy.url)
        with socket.create_connection((where.hostname, where.port), 60) as peer:
            peer.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {proxy.token}\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(self.BODY)}\r\nExpect: 100-continue\r\n\r\n".encode())
            self.assertTrue(peer.recv(1000).startswith(b"HTTP/1.1 100 "))
            peer.sendall(self.BODY)
            self.assertTrue(peer.recv(1000).startswith(b"HTTP/1.1 200 "))
        self.assertIsNone(provider.request().header("expect"))


class Answers(ModelTest):
    # MP-7, MP-8, MP-9
    def test_json_answers_reach_the_client_byte_for_byte(self):
        answers = model_answers.repertoire()
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            for name, answer in answers.items():
                provider.then(answer)
                answered = proxy.ask(api)
                with self.subTest(api=api, answer=name):
                    self.assertEqual((answered.status, answered.body), (200, answer.json(api)))
            odd = b'\n{ "id" : "x\\u0041\\/", "object":"chat.completion", "type":"message","role":"assistant","content":[],"output":[],"choices":[],"n":1.50e+02,"z":{"b":[ ],"a":null} }\r\n'
            provider.then(Reply(odd, framing="length"), Reply(odd[:9], odd[9:]), Reply(odd, framing="close"))
            self.assertEqual([proxy.ask(api).body for _ in range(3)], [odd] * 3)

    # MP-7
    def test_status_and_headers_reach_the_client(self):
        headers = [("x-request-id", "req_1"), ("X-RateLimit-Remaining-Requests", "9"), ("anthropic-ratelimit-tokens-reset", "2026-11-16T00:00:00Z"), ("x-new", "a"), ("x-new", "b"), ("cf-ray", "9")]
        dropped = [("Set-Cookie", "a=b"), ("Alt-Svc", "h3=\":443\""), ("Strict-Transport-Security", "max-age=1"), ("Keep-Alive", "timeout=5"), ("Connection", "x-hop"), ("x-hop", "1")]
        for stream in (False, True):
            body = Answer(say("hi")).stream(CHAT) if stream else Answer(say("hi")).json(CHAT)
            provider = Provider(self, otherwise=Reply(body, type=STREAM if stream else "application/json", headers=headers + dropped, status=200 if stream else 202))
            answered = self.proxy(provider).ask(CHAT, stream=stream)
            self.assertEqual(answered.status, 200 if stream else 202)
            got = kept(answered.headers, OWN_RESPONSE)
            for name, value in headers:
                self.assertIn((name.lower(), value), got)
            self.assertEqual({name for name, _ in got} & {name.lower() for name, _ in dropped}, set())

    # MP-8, MP-9
    def test_streams_reach_the_client_event_for_event(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            for name, answer in model_answers.repertoire().items():
                provider.then(answer)
                answered = proxy.ask(api, stream=True)
                with self.subTest(api=api, answer=name):
                    self.assertEqual((answered.status, answered.header("content-type").split(";")[0]), (200, "text/event-stream"))
                    self.assertEqual(in_turn(api, answered.events()), in_turn(api, answer.events(api)))
                    if "call" not in name and name != "three choices":  # these are held until their decision (MP-56)
                        self.assertEqual(answered.events(), answer.events(api))

    # MP-8, MP-9: chat events have no names; names that a provider adds stay.
    def test_names_of_chat_events_stay(self):
        provider = Provider(self)
        for policy in (None, guard("output", "never-there")):
            proxy = self.proxy(provider, policy=policy, apis=(CHAT,))
            for name, answer in model_answers.repertoire().items():
                body = answer.stream(CHAT).replace(b"data: {", b"event: chunk.v1\ndata: {")
                provider.then(Reply(body, type=STREAM))
                answered = proxy.ask(CHAT, stream=True, n=len(answer.choices))
                with self.subTest(answer=name, guarded=policy is not None):
                    self.assertEqual({named for named, data in answered.events() if data != "[DONE]"}, {"chunk.v1"})
            proxy.stop()

    # MP-8: a policy that only observes calls holds none of them
    def test_streams_with_calls_that_are_observed_reach_the_client_event_for_event(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(model={"tool_calls": "observe"}))
        for api in APIS:
            for name, answer in model_answers.repertoire().items():
                provider.then(answer)
                with self.subTest(api=api, answer=name):
                    self.assertEqual(proxy.ask(api, stream=True).events(), answer.events(api))

    # MP-14
    def test_streams_are_read_as_html_defines_them(self):
        answer = Answer(say("one two three"))
        for api in APIS:
            plain = answer.stream(api)
            spellings = {
                "cr": plain.replace(b"\n", b"\r"), "crlf": plain.replace(b"\n", b"\r\n"), "mark": b"\xef\xbb\xbf" + plain,
                "comments": plain.replace(b"\n\n", b"\n: a comment\n\n: another\n\n"), "no blank": plain.replace(b": ", b":", 2), "other fields": b"retry: 10\nid: 7\n" + plain,
            }
            for name, body in spellings.items():
                provider = Provider(self, Reply.cut(body, range(0, len(body), 11)))
                answered = self.proxy(provider).ask(api, stream=True)
                with self.subTest(api=api, spelling=name):
                    self.assertEqual(answered.events(), answer.events(api))
                    self.assertNotIn(b"\r", answered.body)

    # MP-14
    def test_several_data_lines_are_one_value(self):
        answer = Answer(say("one two"))
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            body = answer.stream(api).replace(b'data: {"', b'data: {\ndata: "')
            provider.then(Reply(body, type=STREAM))
            got = proxy.ask(api, stream=True).events()
            parse = lambda events: [(name, data if data == "[DONE]" else json.loads(data)) for name, data in events]
            self.assertEqual(parse(got), parse(answer.events(api)))

    # MP-75
    def test_errors_of_the_provider_pass_with_status_body_and_retry_after(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            for status in (400, 403, 404, 413, 422, 429, 500, 503, 529):
                body = (b'{"type":"error","error":{"type":"some_error","message":"no \\u00fc"},"request_id":"req_1"}' if api == MESSAGES else
                        b'{\n  "error": {"message": "no \\u00fc", "type": "some_error", "param": null, "code": null}}\n')
                for stream in (False, True):
                    provider.then(Reply.error(status, body, [("retry-after", "7"), ("x-request-id", "req_1")]))
                    answered = proxy.ask(api, stream=stream)
                    with self.subTest(api=api, status=status, stream=stream):
                        self.assertEqual((answered.status, answered.body, answered.header("retry-after")), (status, body, "7"))
                if status >= 500:  # the circuit of an upstream counts errors in a row (MP-76)
                    self.assertEqual(proxy.ask(api).status, 200)

    # MP-24, MP-26
    def test_a_refused_key_of_the_proxy_is_not_the_clients_login(self):
        provider = Provider(self, otherwise=Reply.error(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, [("www-authenticate", "Bearer")]))
        proxy = self.proxy(provider)
        for api in APIS:
            answered = proxy.ask(api)
            self.assertEqual((answered.status, answered.header("x-should-retry"), answered.header("www-authenticate")), (403, "false", None))
            error_of(self, api, answered)
            if api != MESSAGES:
                self.assertEqual(answered.json()["error"]["code"], "upstream_credentials")
            self.assertNotIn("Incorrect", answered.text())
            self.assertNotIn(KEY, answered.text())

    # MP-26
    def test_neither_the_key_nor_the_token_stands_in_what_a_provider_says(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        told = {"error": {"message": f"{KEY} for {proxy.token}", "type": "invalid_request_error"}}
        begun = {api: Answer(say("hello")).stream(api).split(b"\n\n")[0] + b"\n\n" for api in APIS}
        ended = {CHAT: b"data: " + json.dumps(told).encode() + b"\n\n", MESSAGES: b"event: error\ndata: " + json.dumps({"type": "error", **told}).encode() + b"\n\n",
                 RESPONSES: b"event: error\ndata: " + json.dumps({**told["error"], "type": "error", "code": None, "param": None, "sequence_number": 1}).encode() + b"\n\n"}
        for api in APIS:
            for reply in (Reply.error(429, told, [("x-told", f"{KEY} {proxy.token}"), ("x-request-id", f"r {KEY}")]), Reply(begun[api], ended[api], type=STREAM)):
                provider.then(reply)
                answered = proxy.ask(api, stream=True)
                with self.subTest(api=api, status=answered.status):
                    said = answered.text() + str(answered.headers)
                    self.assertIn("[REDACTED:credential] for [REDACTED:credential]", said)
                    self.assertNotIn(KEY, said)
                    self.assertNotIn(proxy.token, said)
        # The record had the key if the provider repeated it in the id of the request.
        ids = {row["provider_request_id"] for row in proxy.entries(count=2 * len(APIS))}
        self.assertEqual(ids, {"r [REDACTED:credential]", None})

    # MP-82
    def test_every_answer_names_its_record_and_what_ran(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(
            {"type": "regex", "stage": "input", "patterns": ["FORBIDDEN"]}, {"type": "regex", "stage": "input", "id": "r", "on_fail": "redact", "patterns": ["PRIVATE"]},
            {"type": "regex", "stage": "output", "id": "o", "patterns": ["NEVER"]}))
        for api in APIS:
            for stream in (False, True):
                for text, decision in (("hello", "allow"), ("so PRIVATE", "redact"), ("FORBIDDEN", "deny")):
                    answered = proxy.ask(api, text, stream=stream)
                    with self.subTest(api=api, stream=stream, text=text):
                        self.assertEqual(answered.header("x-sallyport-decision"), decision)
                        self.assertIn("input=ran", answered.header("x-sallyport-guards"))
                        self.assertRegex(answered.header("x-sallyport-policy"), "[0-9a-f]{16}")
                        self.assertTrue(answered.header("x-sallyport-record"))
                        if (answered.header("content-type") or "").startswith("application/json"):
                            float(answered.header("x-sallyport-overhead-ms"))
        records = {row["id"] for row in self.good("ledger", "show", "--kind", "model_audit", "--limit", "1000", "--json").lines() if "id" in row}
        self.assertIn(answered.header("x-sallyport-record"), records | {entry["request_id"] for entry in proxy.entries()})


class Routes(ModelTest):
    # MP-1
    def test_other_paths_are_not_served_and_recorded(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        paths = ["/v1/completions", "/v1/batches", "/v1/files", "/v1/images/generations", "/v1/audio/speech", "/v1/moderations", "/v1/conversations", "/v1/vector_stores",
                 "/v1/messages/batches", "/v1/containers", "/v1/realtime", "/v1/unknown", "/v1beta/models/gemini-3:generateContent", "/v1alpha/models/gemini-3:generateContent", "/v1beta1/projects/p/locations/l/publishers/google/models/g:generateContent", "/upload/v1beta/files", "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
                 "/v1/models/gemini-3:generateContent", "/v1/messages/", "/v1//messages", "/v1/messages/../messages", "/v1/Messages"]
        for path in paths:
            answered = proxy.send("POST", path, {"model": "x"}, proxy.headers(CHAT))
            with self.subTest(path=path):
                self.assertEqual(answered.status, 404, answered.body)
                self.assertIn("not_served", answered.text())
        self.assertEqual(provider.requests, [])
        entries = proxy.entries(count=len(paths))
        self.assertEqual([(entry["outcome"], entry["status"], entry["attempts"]) for entry in entries], [("refused", 404, 0)] * len(paths))

    # MP-1
    def test_the_lesser_routes_reach_the_provider(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for path, api, body in (("/v1/messages/count_tokens?beta=true", MESSAGES, question(MESSAGES)), ("/v1/responses/input_tokens", RESPONSES, question(RESPONSES)),
                                ("/v1/responses/compact", RESPONSES, question(RESPONSES)), ("/v1/embeddings", CHAT, {"model": "text-embedding-3-small", "input": ["hello"]})):
            data = json.dumps(body).encode()
            direct = send(provider.url, "POST", path, data)
            answered = proxy.send("POST", path, data, proxy.headers(api))
            with self.subTest(path=path):
                self.assertEqual((answered.status, answered.body), (200, direct.body))
                self.assertEqual((provider.requests[-1].target, provider.requests[-1].body), (path, data))

    # MP-1, MP-3
    def test_head_is_answered_here_and_an_upgrade_gets_426(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        answered = proxy.send("HEAD", "/")
        self.assertEqual((answered.status, answered.body), (200, b""))
        for api in APIS:
            answered = proxy.send("GET", PATHS[api], headers=[*proxy.headers(api), ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                                                              ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")])
            self.assertEqual(answered.status, 426, answered.body)
            error_of(self, api, answered)
        self.assertEqual(provider.requests, [])

    def named(self, provider, policy=None):
        """Two upstreams that name their models."""
        return self.proxies([{"name": "claude", "api": MESSAGES, "url": provider.url, "key": "none", "models": ["claude-opus-5", "claude-haiku-5"]},
                             {"name": "gpt", "api": CHAT, "url": provider.url, "key": "none", "models": ["gpt-5-mini", "gpt-5"], "rename": {"fast": "gpt-5-mini"}}], policy)

    # MP-22
    def test_a_model_that_none_serves_gets_404_and_a_renamed_one_its_name(self):
        provider = Provider(self)
        proxy = self.named(provider)
        for api, model in ((MESSAGES, "claude-2"), (CHAT, "claude-opus-5"), (CHAT, "gpt-4"), (RESPONSES, "gpt-5")):
            answered = proxy.ask(api, question(api) | {"model": model})
            with self.subTest(api=api, model=model):
                self.assertEqual((answered.status, answered.header("x-should-retry")), (404, "false"), answered.body)
                error_of(self, api, answered)
        self.assertEqual(provider.requests, [])
        self.assertEqual(proxy.ask(CHAT, question(CHAT) | {"model": "fast"}).status, 200)
        self.assertEqual(provider.request().json(), question(CHAT) | {"model": "gpt-5-mini"})
        entry = proxy.entries(count=5)[-1]
        self.assertEqual((entry["model"], entry["upstream_model"], entry["upstream"], entry["credential"]), ("fast", "gpt-5-mini", "gpt", "none"))

    # MP-22, MP-23
    def test_an_agent_sees_the_models_it_may_use_and_gets_403_for_the_others(self):
        provider = Provider(self)
        proxy = self.named(provider, guards(model={"allow": {"agent:bob": ["*-mini", "claude-haiku-*"], "*": ["*"]}}))
        anthropic = lambda token: [("x-api-key", token), ("anthropic-version", "2023-06-01")]
        openai = lambda token: [("Authorization", f"Bearer {token}")]
        everything = ["claude-opus-5", "claude-haiku-5", "gpt-5-mini", "gpt-5", "fast"]
        for token, allowed in ((proxy.token, set(everything)), (BOB, {"gpt-5-mini", "claude-haiku-5"})):
            listed = proxy.send("GET", "/v1/models", headers=openai(token)).json()
            self.assertEqual((listed["object"], {model["id"] for model in listed["data"]} - {"fast"}), ("list", allowed - {"fast"}))
            self.assertEqual({(model["object"], type(model["created"]), type(model["owned_by"])) for model in listed["data"]}, {("model", int, str)})
            listed = proxy.send("GET", "/v1/models", headers=anthropic(token)).json()
            self.assertEqual(({model["id"] for model in listed["data"]} - {"fast"}, listed["has_more"]), (allowed - {"fast"}, False))
            self.assertEqual({(model["type"], type(model["display_name"])) for model in listed["data"]}, {("model", str)})
            self.assertEqual((listed["first_id"], listed["last_id"]), (listed["data"][0]["id"], listed["data"][-1]["id"]))
            for model in everything[:4]:
                one = proxy.send("GET", f"/v1/models/{model}", headers=openai(token))
                self.assertEqual((one.status, one.json().get("id")), (200, model) if model in allowed else (404, None), model)
                record = proxy.audit()  # MP-66, MP-82
                self.assertEqual((record["request_id"], record["route"], record["status"], record["attempts"]), (one.header("x-sallyport-record"), "/v1/models/{id}", one.status, 0))
        for api, model, status in ((CHAT, "gpt-5-mini", 200), (CHAT, "gpt-5", 403), (MESSAGES, "claude-haiku-5", 200), (MESSAGES, "claude-opus-5", 403)):
            provider.clear()
            answered = proxy.ask(api, question(api) | {"model": model}, token=BOB)
            self.assertEqual((answered.status, len(provider.requests)), (status, status == 200), model)
            if status == 403:
                self.assertEqual((error_of(self, api, answered), answered.header("x-should-retry")), ("permission_error", "false"))

    # MP-29
    def test_a_redacted_prefix_stays_the_same_over_fifty_turns(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards({"type": "regex", "stage": "input", "id": "names", "on_fail": "redact", "replacement": "[name]", "patterns": ["(?i)ada|bob"]},
                                                   {"type": "regex", "stage": "tool_output", "id": "numbers", "on_fail": "redact", "patterns": ["[0-9]{6}"]}))
        chance = random.Random(29)
        for api in APIS:
            turns, before = [], None
            for turn in range(50):
                text = {"role": "user", "content": f"{turn}: Ada said {some_value(chance, 0)!s} to bob \u00fc"}
                turns += [text, {"role": "assistant", "content": f"hello {turn}"}]
                provider.clear()
                rest = {"model": MODELS[api], **({"max_tokens": 1024} if api == MESSAGES else {})}
                body = json.dumps({**rest, "input" if api == RESPONSES else "messages": turns[:-1]}).encode()
                self.assertEqual(proxy.ask(api, body).status, 200)
                sent = provider.request().body
                self.assertNotRegex(sent.decode(), "(?i)ada|bob")
                self.assertEqual(sent.count(b"[name]"), 2 * (turn + 1))
                self.assertEqual(len(json.loads(sent)["input" if api == RESPONSES else "messages"]), 2 * turn + 1)
                self.assertTrue(before is None or sent.startswith(before), (before, sent))
                before = sent[:-2]


if __name__ == "__main__":
    unittest.main()
