import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Message, Part } from "../src/api/types";
import { type Actions, MessageView } from "../src/chat/message";
import { message } from "./server";
import { CORPUS } from "./xss";

const actions = (): Actions => ({
  conversation: "c1",
  resend: vi.fn(),
  regenerate: vi.fn(),
  branch: vi.fn(),
  choose: vi.fn(),
  explain: vi.fn(),
});
const show = (shown: Message, doing = actions(), busy = false) =>
  render(<MessageView message={shown} siblings={undefined} last busy={busy} actions={doing} />);
const answer = (parts: Part[], metadata: Message["metadata"] = {}): Message => ({ ...message("a1", "assistant", "", metadata), parts });

test("a note is a quiet line whose why? opens the explanation", async () => {
  const doing = actions();
  const note = { code: "reasoning.adjusted", message: "The budget is 63,999." };
  show(answer([{ type: "text", text: "Hi" }, { type: "data-note", data: note }], { notes: [note] }), doing);
  expect(screen.getAllByText(/The budget is 63,999/)).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: /why\?/ }));
  expect(doing.explain).toHaveBeenCalledOnce();
});

test("redacted thinking has a stub that says why, where it stood", () => {
  const { container } = show(
    answer([
      { type: "data-redacted", data: { form: "redacted", why: "The provider encrypted this part." } },
      { type: "text", text: "Hi" },
    ]),
  );
  const words = container.textContent ?? "";
  expect(words.indexOf("The provider encrypted")).toBeLessThan(words.indexOf("Hi"));
});

test("thinking that was expected and is missing is explained", () => {
  show(answer([{ type: "text", text: "Hi" }], { thinking_skipped: { code: "none", message: "the model answered without thinking" } }));
  expect(screen.getByText(/the model answered without thinking/)).toBeTruthy();
});

test("a failure can be tried again", async () => {
  const doing = actions();
  show(answer([], { status: "failed", failure: { kind: "overloaded", message: "Busy" } }), doing);
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(doing.regenerate).toHaveBeenCalledOnce();
});

test("several thoughts: the sum stands under the answer, and no thought claims it", () => {
  const call: Part = { type: "dynamic-tool", toolCallId: "x", toolName: "look", state: "output-available", input: {}, output: "y" };
  const usage = { input_uncached: 1, cache_read: null, cache_write: null, input_total: 1, output_visible: 2, output_reasoning: 900, output_total: 902 };
  const { container } = show(
    answer([{ type: "reasoning", text: "one" }, call, { type: "reasoning", text: "two" }], { elapsed_thinking: 9, usage }),
  );
  expect(container.textContent?.match(/Thought for 9 s · 900 tokens/g)).toHaveLength(1);
});

test.each(CORPUS)("%j is text in a tool's result, a file's name and what a person said", async (attack) => {
  const tool: Part = { type: "dynamic-tool", toolCallId: "x", toolName: attack, state: "output-available", input: { attack }, output: attack };
  const file: Part = { type: "file", mediaType: "text/html", filename: attack, url: "javascript:window.hacked=1" };
  const redacted: Part = { type: "data-redacted", data: { form: attack, why: attack } };
  const { container } = show(answer([tool, file, redacted, { type: "reasoning", text: attack }]));
  for (const button of screen.getAllByRole("button", { expanded: false })) {
    if (button.getAttribute("aria-haspopup") !== "menu") await userEvent.click(button);
  }
  expect(container.textContent).toContain(attack.slice(0, 10));
  show({ ...message("u1", "user", attack), parts: [{ type: "text", text: attack }, file] });
  expect(document.querySelectorAll("script, iframe, form, object, [onerror], [onload], img")).toHaveLength(0);
  for (const link of document.querySelectorAll("a")) expect(link.href).toMatch(/^(https?:|mailto:)/);
});

test("while it is written nothing can be done with it, and the room for it is there", () => {
  const { container } = show(answer([{ type: "text", text: "Hi", state: "streaming" }]), actions(), true);
  const again = container.querySelector('[aria-label="Answer again"]');
  expect(again?.closest(".invisible")).not.toBeNull();
});

test("a tool that waits for a word says so, and nothing claims to think", () => {
  const call: Part = { type: "dynamic-tool", toolCallId: "t", toolName: "write", state: "input-available", input: { path: "a" } };
  const ask: Part = { type: "data-approval", data: { tool_call_id: "t", tool: "write", effect: "write", input: {}, state: "asked" } };
  const { container } = show(answer([call, ask]), actions(), true);
  expect(screen.getByRole("button", { name: /write waits for you/ })).toBeTruthy();
  expect(container.textContent).not.toContain("Thinking…");
});

test("whoever leaves an edit stands where they came from", async () => {
  const doing = actions();
  show(message("u1", "user", "Hello"), doing);
  await userEvent.click(screen.getByRole("button", { name: "Edit and resend" }));
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Edit your message" }));
  await userEvent.keyboard(" there{Escape}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit and resend" }));
  expect(doing.resend).not.toHaveBeenCalled();
});
