// One conversation's line to the server: sending, following, taking up again. It knows nothing of the page.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { ask, call, failureFrom, urlOf } from "../api/client";
import type { Conversation, Failure, Message, Messages, Uploaded } from "../api/types";
import { tell } from "../ui/hooks";

export const loadConversation = async (id: string) => (await call("GET /api/conversations/{id}", { path: { id } })) as Conversation;
export const loadMessages = async (id: string) =>
  (await call("GET /api/conversations/{id}/messages", { path: { id } })) as Messages;

export type Draft = { text: string; files: Uploaded[] };

/** What is known beside the messages. `before` is an answer that goes on, as it was; its stream has the rest. */
export type State = {
  branches: Record<string, string[]>;
  before: Message | null;
  failure: Failure | null;
  lost: boolean;
};

const WAITS = [500, 1_000, 2_000, 3_000, 5_000, 5_000, 10_000];

export class Line {
  readonly chat: Chat<Message>;
  state: State;
  private readonly hearers = new Set<() => void>();
  private readonly keys = new Map<string, string>();
  private tries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly id: string,
    initial: Messages,
    private readonly onChange: (about: Conversation) => void,
  ) {
    this.state = { branches: initial.branches, before: unfinished(initial), failure: null, lost: false };
    this.chat = new Chat<Message>({
      id,
      messages: withoutParts(initial.messages, this.state.before),
      transport: transport(id),
      onError: (error) => this.failed(error),
      onFinish: ({ isAbort, isDisconnect, isError }) => {
        if (!isAbort && !isDisconnect && !isError) this.finished();
      },
    });
  }

  readonly subscribe = (hear: () => void): (() => void) => {
    this.hearers.add(hear);
    const back = () => void this.refresh();
    addEventListener("online", back);
    addEventListener("focus", back);
    return () => {
      this.hearers.delete(hear);
      removeEventListener("online", back);
      removeEventListener("focus", back);
      clearTimeout(this.timer);
    };
  };

  get busy(): boolean {
    return this.chat.status === "submitted" || this.chat.status === "streaming";
  }

  send({ text, files }: Draft): void {
    this.begin();
    void this.chat.sendMessage({ text, files: files.map(filePart) }, { body: { files: files.map(fileId) } });
  }

  /** An edited message stands beside the old one; its files are given again, since they belong to that. */
  async resend(message: Message, text: string): Promise<void> {
    this.begin();
    const parts = message.parts.filter((part) => part.type === "file");
    try {
      const files = await Promise.all(parts.map((part) => uploadAgain(part.url, part.filename ?? "file")));
      const body = { parent_id: message.metadata?.parent_id ?? null, files: files.map(fileId) };
      await this.chat.sendMessage({ text, files: parts, messageId: message.id }, { body });
    } catch (error) {
      this.set({ failure: failureFrom(error) });
    }
  }

  regenerate(message: Message): void {
    this.begin();
    void this.chat.regenerate({ messageId: message.id, body: { regenerate: message.id } });
  }

  goOn(): void {
    this.begin();
    void this.chat.sendMessage(undefined, { body: {} });
  }

  async choose(head: string): Promise<void> {
    await call("PATCH /api/conversations/{id}", { path: this, body: { head } });
    await this.refresh();
  }

  /** The server ends the answer and says so in its stream; only where that fails, the stream is left. */
  async stop(): Promise<void> {
    try {
      await call("POST /api/conversations/{id}/stop", { path: this });
    } catch {
      await this.chat.stop();
      this.later(300);
    }
  }

  /** What the server has is the truth; a run that still goes on there is followed again. */
  async refresh(): Promise<void> {
    if (this.busy) return;
    try {
      const [found, about] = await Promise.all([loadMessages(this.id), loadConversation(this.id)]);
      if (this.busy || !this.hearers.size) return;
      const before = unfinished(found);
      this.recognise(found.messages);
      this.set({ before, branches: found.branches, lost: false });
      this.chat.messages = withoutParts(found.messages, before);
      this.onChange(about);
      if (!about.running && !isRunning(found)) this.tries = 0;
      else if (this.tries++ < WAITS.length) await this.chat.resumeStream();
    } catch (error) {
      const failure = failureFrom(error);
      if (failure.kind === "connection_lost") this.reconnect();
      else this.set({ failure });
    }
  }

  /** What the page calls a message: it has no other name once the server has given it its own. */
  keyOf(id: string): string {
    return this.keys.get(id) ?? id;
  }

  private recognise(found: Message[]): void {
    const known = new Set(found.map((message) => message.id));
    this.chat.messages.forEach((old, at) => {
      const same = found[at];
      if (same && !known.has(old.id) && same.role === old.role) this.keys.set(same.id, this.keyOf(old.id));
    });
  }

  private begin(): void {
    this.tries = 0;
    this.set({ before: null, failure: null });
  }

  private finished(): void {
    this.tries = 0;
    this.set({ lost: false });
    this.later(0);
    tell({ what: "conversation", id: this.id });
  }

  private failed(error: unknown): void {
    const failure = failureFrom(error);
    if (failure.kind === "connection_lost") return this.reconnect();
    this.set({ failure });
    this.later(0);
  }

  private reconnect(): void {
    this.set({ lost: true });
    this.later(WAITS[Math.min(this.tries++, WAITS.length - 1)] ?? 0);
  }

  private later(wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), wait);
  }

  private set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const hear of this.hearers) hear();
  }
}

/** The server keeps the conversation, so only what is new is sent. */
function transport(id: string): DefaultChatTransport<Message> {
  const path = urlOf("/api/conversations/{id}", { id });
  return new DefaultChatTransport<Message>({
    api: `${path}/chat`,
    fetch: ask as typeof fetch,
    prepareSendMessagesRequest: ({ messages, trigger, body }) => {
      const last = messages.at(-1);
      const { files, ...rest } = body ?? {};
      if (trigger !== "submit-message" || last?.role !== "user") return { body: { message: null, ...rest } };
      const text = last.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      // Without files it goes on from what was said already.
      return { body: { message: files ? { text, files } : null, ...rest } };
    },
    prepareReconnectToStreamRequest: () => ({ api: `${path}/stream` }),
  });
}

function unfinished({ messages, running }: Messages): Message | null {
  return messages.find((message) => message.id === running && message.parts.length > 0) ?? null;
}

const withoutParts = (messages: Message[], before: Message | null) =>
  messages.map((message) => (message.id === before?.id ? { ...message, parts: [] } : message));

export const withParts = (messages: Message[], before: Message | null) =>
  messages.map((message) => (message.id === before?.id ? { ...message, parts: [...before.parts, ...message.parts] } : message));

export const isRunning = (kept: Messages) => Boolean(kept.running) || kept.messages.at(-1)?.metadata?.status === "streaming";

const filePart = (file: Uploaded) => ({
  type: "file" as const,
  mediaType: file.media_type,
  filename: file.name,
  url: `/api/files/${encodeURIComponent(file.file_id)}`,
});
const fileId = (file: Uploaded) => ({ file_id: file.file_id });

async function uploadAgain(url: string, name: string): Promise<Uploaded> {
  const form = new FormData();
  form.append("file", await (await ask(url)).blob(), name);
  return call("POST /api/files", { body: form });
}
