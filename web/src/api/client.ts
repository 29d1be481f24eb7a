// The one place that talks to the server.
import type { Api } from "./schema";
import type { Failure } from "./types";

/** What the server refused, and what to do about it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly failure: Failure,
  ) {
    super(failure.message);
    this.name = "ApiError";
  }
}

export const signedOut = new EventTarget();

export function csrf(): string {
  const pair = document.cookie.split("; ").find((cookie) => cookie.startsWith("thinkwire_csrf="));
  return pair ? decodeURIComponent(pair.slice("thinkwire_csrf=".length)) : "";
}

/** `fetch` with the proof that this page asked, and with the server's own words when it refuses. */
export async function ask(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if ((init.method ?? "GET") !== "GET") headers.set("x-csrf-token", csrf());
  const response = await fetch(input, { ...init, headers, credentials: "same-origin" });
  if (response.ok) return response;
  // That somebody is signed out is found out by asking who is asking: no second time.
  if (response.status === 401 && input !== "/api/me") signedOut.dispatchEvent(new Event("out"));
  throw new ApiError(response.status, await failureOf(response));
}

async function failureOf(response: Response): Promise<Failure> {
  try {
    const body = await response.json();
    if (typeof body?.error?.message === "string") return body.error;
  } catch {
    // Not ours: a proxy's page, or nothing at all.
  }
  const message = response.status >= 500 ? "The server had a problem." : "The server refused this.";
  return { kind: "http", message: `${message} (${response.status})` };
}

type Params<Name> = Name extends `${string}{${infer Param}}${infer Rest}` ? Param | Params<Rest> : never;

type Options<Name extends keyof Api> = {
  path?: { [Param in Params<Name>]: string };
  body?: Api[Name]["takes"];
  query?: Api[Name]["query"];
};

/** Asks for one operation of the API, with everything typed as the server's own document says. */
export async function call<Name extends keyof Api>(name: Name, options: Options<Name> = {}): Promise<Api[Name]["gives"]> {
  const [method = "GET", pattern = ""] = name.split(" ");
  const { body } = options;
  const init: RequestInit = { method };
  if (body instanceof FormData) init.body = body;
  else if (method !== "GET" && method !== "DELETE") {
    init.body = JSON.stringify(body ?? {});
    init.headers = { "content-type": "application/json" };
  }
  const response = await ask(urlOf(pattern, options.path, options.query), init);
  return response.json();
}

export function urlOf(pattern: string, path: Record<string, string> = {}, query: object = {}): string {
  const filled = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ""));
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length ? `${filled}?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}` : filled;
}

/** Any error as words for a person. */
export function failureFrom(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  const text = error instanceof Error ? error.message : String(error);
  if (text.startsWith("{")) {
    try {
      const body = JSON.parse(text);
      const failure = body.error ?? body;
      if (typeof failure.message === "string") return failure;
    } catch {
      // Then it is text.
    }
  }
  if (error instanceof TypeError) return { kind: "connection_lost", message: "The connection to the server was lost." };
  return { kind: "unknown", message: text || "Something went wrong." };
}
