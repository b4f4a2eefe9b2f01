// Requests to `/api/v1`. Each carries the page secret; the browser adds the cookie.
import { setServerTime } from "./clock";

export const BASE = "/api/v1/";
const SECRET_KEY = "sallyport.page";
const TIMEOUT = 15_000;
const MOST_TRIES = 4;

export class Problem extends Error {
  constructor(
    readonly status: number, // 0: no answer came
    readonly code: string,
    detail: string,
    readonly state = "",
    readonly neighbours: number[] = [],
    readonly signIn: string[] = [],
  ) {
    super(detail);
  }
}

let endListener: (problem: Problem) => void = () => {};
export function onSessionEnd(listener: (problem: Problem) => void): void {
  endListener = listener;
}

export function pageSecret(): string | null {
  return localStorage.getItem(SECRET_KEY);
}
export function storePageSecret(secret: string | null): void {
  if (secret === null) localStorage.removeItem(SECRET_KEY);
  else localStorage.setItem(SECRET_KEY, secret);
}

interface Options {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

async function problemOf(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {};
  try {
    body = (await response.json()) as Record<string, unknown>;
  } catch {
    body = {};
  }
  const text = (name: string) => (typeof body[name] === "string" ? (body[name] as string) : "");
  const signIn = Array.isArray(body["sign_in"]) ? (body["sign_in"] as string[]) : [];
  const neighbours = Array.isArray(body["neighbours"]) ? (body["neighbours"] as number[]) : [];
  return new Problem(response.status, text("code") || String(response.status), text("detail") || text("error") || response.statusText, text("state"), neighbours, signIn);
}

async function sendOnce(path: string, options: Options, secret: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (secret) headers["X-Sallyport-Page"] = secret;
  const method = options.method ?? "GET";
  if (method !== "GET") headers["Content-Type"] = "application/json";
  if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
  const deadline = AbortSignal.timeout(TIMEOUT);
  try {
    return await fetch(BASE + path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "no_answer", String(error));
  }
}

export async function request(path: string, options: Options = {}): Promise<Response> {
  const secret = pageSecret();
  const response = await sendOnce(path, options, secret);
  if (response.ok) return response;
  const problem = await problemOf(response);
  // A refusal of a request from before the login says nothing about the session of now.
  const ofThisSession = secret === pageSecret();
  if (response.status === 401 && ofThisSession && !path.startsWith("session/")) endListener(problem);
  throw problem;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const sentAt = performance.now();
  const response = await request(path, signal ? { signal } : {});
  const body = (await response.json()) as T & { server_time?: string };
  setServerTime(body.server_time, sentAt);
  return body;
}

// No answer, or the answer of an overloaded or missing server: the same request may succeed soon.
export function isTransient(error: unknown): boolean {
  return error instanceof Problem && [0, 502, 503, 504].includes(error.status);
}

// One act has at most one effect. A retry has the same idempotency key, and the server returns the first answer for it.
export async function post<T>(path: string, body: unknown, key: string): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await request(path, { method: "POST", body, idempotencyKey: key });
      if (response.status === 204) return null as T;
      return (await response.json().catch((error: unknown) => {
        throw new Problem(0, "no_answer", String(error)); // the answer was cut
      })) as T;
    } catch (error) {
      if (!isTransient(error) || attempt === MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300 * 2 ** attempt));
    }
  }
}

export function query(values: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  const text = search.toString();
  return text ? "?" + text : "";
}
