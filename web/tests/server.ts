// A small stand-in for the server: the contract, and nothing else.
import { vi } from "vitest";
import type { Message, Model } from "../src/api/types";

type Handler = (request: { method: string; url: URL; body: unknown; headers: Headers }) => unknown;
export type Asked = { method: string; path: string; body: unknown; headers: Headers };

export class Server {
  readonly asked: Asked[] = [];
  private readonly routes = new Map<string, Handler>();

  constructor() {
    vi.stubGlobal("fetch", (input: RequestInfo | URL, init?: RequestInit) => this.answer(input, init));
  }

  on(route: string, handler: Handler): this {
    this.routes.set(route, handler);
    return this;
  }

  requests(method: string, path: string): Asked[] {
    return this.asked.filter((one) => one.method === method && one.path === path);
  }

  private async answer(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(String(input instanceof Request ? input.url : input), "http://localhost");
    const method = init.method ?? "GET";
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const headers = new Headers(init.headers);
    this.asked.push({ method, path: url.pathname, body, headers });
    const handler = this.routes.get(`${method} ${url.pathname}`);
    if (!handler) return Response.json({ error: { kind: "not_found", message: `no ${method} ${url.pathname}` } }, { status: 404 });
    const got = await handler({ method, url, body, headers });
    return got instanceof Response ? got : Response.json(got);
  }
}

/** A UI message stream that a test feeds by hand. */
export class Stream {
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private number = 0;
  readonly response: Response;

  constructor() {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller;
      },
    });
    this.response = new Response(body, {
      headers: { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1" },
    });
  }

  say(...frames: object[]): this {
    for (const frame of frames) {
      this.controller.enqueue(new TextEncoder().encode(`id: ${++this.number}\ndata: ${JSON.stringify(frame)}\n\n`));
    }
    return this;
  }

  end(): void {
    this.controller.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
    this.controller.close();
  }

  breakOff(): void {
    this.controller.error(new TypeError("network error"));
  }
}

export const start = (messageId: string) => ({ type: "start", messageId, messageMetadata: { status: "streaming" } });
export const reasoning = (id: string, text: string) => [
  { type: "reasoning-start", id },
  { type: "reasoning-delta", id, delta: text },
];
export const text = (id: string, words: string) => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: words },
];

export function message(id: string, role: "user" | "assistant", words: string, metadata: Message["metadata"] = {}): Message {
  return { id, role, parts: [{ type: "text", text: words, state: "done" }], metadata: { status: "complete", parent_id: null, ...metadata } };
}

export function model(fields: Partial<Model["thinking"]> = {}): Model {
  return {
    name: "anthropic/claude-sonnet-4-5",
    provider: "anthropic",
    provider_label: "Anthropic",
    model: "claude-sonnet-4-5",
    context: 200_000,
    max_output: 64_000,
    price: { input: 3, output: 15 },
    released: "2025-09-29",
    has_key: true,
    thinking: {
      kind: "budget",
      levels: [],
      budget: { min: 1024, max: 63_999, default: 10_000 },
      default: "none",
      can_be_off: true,
      sentence: "Thinks within a budget from 1,024 to 63,999 tokens.",
      ...fields,
    },
  };
}

export const conversation = (fields: object = {}) => ({
  id: "c1",
  title: "Squares",
  model: "anthropic/claude-sonnet-4-5",
  agent_id: null,
  preview: "",
  updated: 1_790_000_000,
  count: 2,
  running: false,
  settings: {},
  context: null,
  ...fields,
});
