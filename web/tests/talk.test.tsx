import { act, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { Message } from "../src/api/types";
import { sendFirst } from "../src/chat/first";
import { ConversationPage } from "../src/chat/page";
import { Toasts } from "../src/ui/toasts";
import { conversation, message, reasoning, Server, Stream, start, text } from "./server";

const PATH = "/api/conversations/c1";
let server: Server;
let kept: { messages: Message[]; branches: Record<string, string[]> };
let running = false;

beforeEach(() => {
  location.hash = "#/c/c1";
  running = false;
  kept = {
    messages: [message("u1", "user", "Why are odd squares odd?"), message("a1", "assistant", "Because.", { parent_id: "u1" })],
    branches: {},
  };
  server = new Server()
    .on(`GET ${PATH}`, () => conversation({ running }))
    .on(`GET ${PATH}/messages`, () => kept)
    .on(`GET ${PATH}/stream`, () => new Response(null, { status: 204 }))
    .on(`POST ${PATH}/stop`, () => ({ stopped: true }))
    .on(`PATCH ${PATH}`, () => conversation());
});

const open = () =>
  render(
    <Toasts>
      <ConversationPage id="c1" />
    </Toasts>,
  );
const write = async (words: string) => {
  await userEvent.type(await screen.findByRole("textbox", { name: "Message" }), words);
  await userEvent.keyboard("{Enter}");
};
const answers = () => screen.getAllByRole("article", { name: "Answer" });

test("only what is new is sent, with the proof that this page asked", async () => {
  document.cookie = "thinkwire_csrf=proof";
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await write("And even ones?");
  await waitFor(() => expect(server.requests("POST", `${PATH}/chat`)).toHaveLength(1));
  const [asked] = server.requests("POST", `${PATH}/chat`);
  expect(asked?.body).toEqual({ message: { text: "And even ones?", files: [] } });
  expect(asked?.headers.get("x-csrf-token")).toBe("proof");
});

test("thinking streams closed into the bubble in which the answer follows", async () => {
  const stream = new Stream();
  server.on(`POST ${PATH}/chat`, () => stream.response);
  open();
  await write("Go");
  stream.say(start("a2"), { type: "start-step" }, ...reasoning("r", "Let me see"));
  await waitFor(() => expect(answers()).toHaveLength(2));
  const bubble = answers()[1] as HTMLElement;
  const line = await within(bubble).findByRole("button", { name: /Thinking…/ });
  expect(line.getAttribute("aria-expanded")).toBe("false");
  stream.say({ type: "reasoning-end", id: "r" }, ...text("t", "It is even."), { type: "text-end", id: "t" });
  await within(bubble).findByText("It is even.");
  expect(line.textContent).toContain("Let me see");
  await userEvent.click(line);
  kept.messages.push(message("u2", "user", "Go"), {
    ...message("a2", "assistant", "It is even."),
    parts: [
      { type: "reasoning", text: "Let me see", state: "done" },
      { type: "text", text: "It is even.", state: "done" },
    ],
  });
  stream.say({ type: "finish-step" }, { type: "finish", messageMetadata: { status: "complete", elapsed_thinking: 12 } });
  await act(async () => stream.end());
  await waitFor(() => expect(screen.getAllByRole("article")).toHaveLength(4));
  expect(within(answers()[1] as HTMLElement).getByRole("button", { expanded: true, name: /Thought/ })).toBe(line);
});

test("an answer that runs is taken up on opening, and nothing is doubled", async () => {
  running = true;
  kept.messages[1] = { ...(kept.messages[1] as Message), metadata: { status: "streaming" } };
  const stream = new Stream();
  server.on(`GET ${PATH}/stream`, () => stream.response);
  open();
  await waitFor(() => expect(server.requests("GET", `${PATH}/stream`)).toHaveLength(1));
  stream.say(start("a1"), { type: "start-step" }, ...text("t", "Because they are"));
  await screen.findByText("Because they are");
  expect(answers()).toHaveLength(1);
  expect(screen.queryByText("Because.")).toBeNull();
});

test("an answer that is over is not followed again", async () => {
  open();
  await screen.findByText("Because.");
  expect(server.requests("GET", `${PATH}/stream`)).toHaveLength(0);
});

test("a lost connection is said, and mended", async () => {
  const first = new Stream();
  const second = new Stream();
  server.on(`POST ${PATH}/chat`, () => first.response).on(`GET ${PATH}/stream`, () => second.response);
  open();
  await write("Go");
  first.say(start("a2"), ...text("t", "half"));
  await screen.findByText("half");
  running = true;
  kept.messages.push(message("u2", "user", "Go"), message("a2", "assistant", "half", { status: "streaming" }));
  await act(async () => first.breakOff());
  await screen.findByText(/connection was lost/);
  await waitFor(() => expect(server.requests("GET", `${PATH}/stream`)).toHaveLength(1), { timeout: 3000 });
  second.say(start("a2"), ...text("t", "half and whole"));
  await screen.findByText("half and whole");
  expect(answers()).toHaveLength(2);
});

test("a key that is missing is named, and the message stays", async () => {
  const error = { kind: "missing_key", message: "There is no key for Anthropic.", advice: "fix_key", variable: "ANTHROPIC_API_KEY" };
  server.on(`POST ${PATH}/chat`, () => Response.json({ error }, { status: 400 }));
  open();
  await write("Go");
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("ANTHROPIC_API_KEY");
});

test("stop asks the server, which keeps what arrived", async () => {
  const stream = new Stream();
  server.on(`POST ${PATH}/chat`, () => stream.response);
  open();
  await write("Go");
  stream.say(start("a2"), ...text("t", "half"));
  await screen.findByText("half");
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(server.requests("POST", `${PATH}/stop`)).toHaveLength(1);
});

test("an edited message goes beside the old one", async () => {
  kept.messages[0] = message("u1", "user", "Why?", { parent_id: "root" });
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Edit and resend" }));
  const field = screen.getByRole("textbox", { name: "Edit your message" });
  await userEvent.clear(field);
  await userEvent.type(field, "Why exactly?");
  await userEvent.click(screen.getAllByRole("button", { name: "Send" })[0] as HTMLElement);
  await waitFor(() => expect(server.requests("POST", `${PATH}/chat`)).toHaveLength(1));
  expect(server.requests("POST", `${PATH}/chat`)[0]?.body).toEqual({ message: { text: "Why exactly?", files: [] }, parent_id: "root" });
});

test("the first message of all is edited under no parent", async () => {
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Edit and resend" }));
  await userEvent.click(screen.getAllByRole("button", { name: "Send" })[0] as HTMLElement);
  await waitFor(() => expect(server.requests("POST", `${PATH}/chat`)[0]?.body).toMatchObject({ parent_id: null }));
});

test("answering again names the answer, and says nothing new", async () => {
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Answer again" }));
  await waitFor(() => expect(server.requests("POST", `${PATH}/chat`)[0]?.body).toEqual({ message: null, regenerate: "a1" }));
});

test("versions of a message can be walked", async () => {
  kept.branches = { a1: ["a0", "a1"] };
  open();
  await screen.findByText("2/2");
  await userEvent.click(screen.getByRole("button", { name: "Earlier version" }));
  await waitFor(() => expect(server.requests("PATCH", PATH)[0]?.body).toEqual({ head: "a0" }));
});

test("a new conversation sends its first message by itself", async () => {
  kept.messages = [];
  sendFirst("c1", { text: "Hello", files: [] });
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await waitFor(() => expect(server.requests("POST", `${PATH}/chat`)[0]?.body).toMatchObject({ message: { text: "Hello" } }));
});

test("nothing is put into web storage", async () => {
  server.on(`POST ${PATH}/chat`, () => new Stream().response);
  open();
  await write("secret");
  expect(localStorage.length + sessionStorage.length).toBe(0);
});
