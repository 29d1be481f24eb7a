import { expect, test } from "vitest";
import type { Part } from "../src/api/types";
import { asksNow, groupsOf, textOf } from "../src/chat/groups";

const thought = (text: string, state: "done" | "streaming" = "done"): Part => ({ type: "reasoning", text, state });
const words = (text: string): Part => ({ type: "text", text, state: "done" });
const call = (id: string): Part => ({
  type: "dynamic-tool",
  toolCallId: id,
  toolName: "look",
  state: "output-available",
  input: {},
  output: "found",
});
const step: Part = { type: "step-start" };

test("thoughts, calls and words stay in their order", () => {
  const groups = groupsOf([step, thought("a"), call("1"), step, thought("b"), words("answer"), call("2"), words("end")]);
  expect(groups.map((group) => group.kind)).toEqual(["thinking", "tool", "thinking", "text", "tool", "text"]);
});

test("neighbouring thoughts are one", () => {
  const [only, ...rest] = groupsOf([thought("a"), step, thought("b", "streaming")]);
  expect(rest).toEqual([]);
  expect(only).toMatchObject({ kind: "thinking", text: "a\n\nb", live: true });
});

test("notes and empty parts take no place", () => {
  const note: Part = { type: "data-note", data: { code: "reasoning.adjusted", message: "less" } };
  expect(groupsOf([note, thought(""), words(""), note])).toEqual([]);
});

test("keys do not change while a message grows, so nothing that is open closes", () => {
  const parts = [step, thought("a"), call("1"), step, thought("b"), words("answer")];
  const all = groupsOf(parts).map((group) => group.key);
  expect(new Set(all).size).toBe(all.length);
  for (let length = 0; length < parts.length; length++) {
    const keys = groupsOf(parts.slice(0, length)).map((group) => group.key);
    expect(all.slice(0, keys.length)).toEqual(keys);
  }
  const loaded = groupsOf(parts.filter((part) => part.type !== "step-start"));
  expect(loaded.map((group) => group.key)).toEqual(all);
});

test("copying leaves thinking out unless it is asked for", () => {
  const parts = [thought("secret\nplan"), call("1"), words("one"), words("two")];
  expect(textOf(parts)).toBe("one\n\ntwo");
  expect(textOf(parts, true)).toBe("> secret\n> plan\n\none\n\ntwo");
});

const tool = (state: "input-available" | "output-available"): Part =>
  ({ type: "dynamic-tool", toolCallId: "t", toolName: "write", state, input: {}, ...(state === "output-available" && { output: "x" }) }) as Part;
const ask = (state: "asked" | "yes"): Part => ({
  type: "data-approval",
  data: { tool_call_id: "t", tool: "write", effect: "write", input: {}, state },
});

test("a question waits only while its tool has neither been decided on nor run", () => {
  expect(asksNow([tool("input-available"), ask("asked")])?.tool).toBe("write");
  expect(asksNow([tool("input-available"), ask("yes")])).toBeNull();
  expect(asksNow([tool("output-available"), ask("asked")])).toBeNull();
  expect(asksNow([tool("input-available")])).toBeNull();
});
