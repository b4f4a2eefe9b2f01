// Requests to `/api/v1`. Each carries the page secret; the browser adds the cookie.
import { tellServerTime } from "./clock";

export const BASE = "/api/v1/";
const SECRET = "sallyport.page";
const WAIT = 15_000;
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

let ended: (problem: Problem) => void = () => {};
export function onEnded(told: (problem: Problem) => void): void {
  ended = told;
}

export function pageSecret(): string | null {
  return localStorage.getItem(SECRET);
}
export function keepPageSecret(secret: string | null): void {
  if (secret === null) localStorage.removeItem(SECRET);
  else localStorage.setItem(SECRET, secret);
}

interface Options {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

async function problemOf(response: Response): Promise<Problem> {
  let told: Record<string, unknown> = {};
  try {
    told = (await response.json()) as Record<string, unknown>;
  } catch {
    told = {};
  }
  const text = (name: string) => (typeof told[name] === "string" ? (told[name] as string) : "");
  const signIn = Array.isArray(told["sign_in"]) ? (told["sign_in"] as string[]) : [];
  const neighbours = Array.isArray(told["neighbours"]) ? (told["neighbours"] as number[]) : [];
  return new Problem(response.status, text("code") || String(response.status), text("detail") || text("error") || response.statusText, text("state"), neighbours, signIn);
}

async function once(path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  const secret = pageSecret();
  if (secret) headers["X-Sallyport-Page"] = secret;
  const method = options.method ?? "GET";
  if (method !== "GET") headers["Content-Type"] = "application/json";
  if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
  const deadline = AbortSignal.timeout(WAIT);
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

export async function ask(path: string, options: Options = {}): Promise<Response> {
  const response = await once(path, options);
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && !path.startsWith("session/")) ended(problem);
  throw problem;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const asked = performance.now();
  const response = await ask(path, signal ? { signal } : {});
  const body = (await response.json()) as T & { server_time?: string };
  tellServerTime(body.server_time, asked);
  return body;
}

// Nothing has answered, or nothing that knows: the same request may succeed soon.
export function mayPass(error: unknown): boolean {
  return error instanceof Problem && [0, 502, 503, 504].includes(error.status);
}

// One act, at most one effect: a lost answer is asked for again under the same key, which the server remembers.
export async function post<T>(path: string, body: unknown, key: string): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const response = await ask(path, { method: "POST", body, idempotencyKey: key });
      return response.status === 204 ? (null as T) : ((await response.json()) as T);
    } catch (error) {
      if (!mayPass(error) || tries === MOST_TRIES) throw error;
      await new Promise((done) => setTimeout(done, 300 * 2 ** tries));
    }
  }
}

export function query(values: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  const text = search.toString();
  return text ? "?" + text : "";
}
