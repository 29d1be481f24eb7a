import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { tokenIn } from "../src/account/entry";
import { App } from "../src/app";
import { Server } from "./server";

const TOKEN = "the-start-token-of-the-tests";
const needsToken = () =>
  Response.json({ error: { kind: "start_token", message: "this server needs its start token", advice: "fix_request" } }, { status: 401 });

let server: Server;
let isSignedIn: boolean;

beforeEach(() => {
  isSignedIn = false;
  server = new Server()
    .on("GET /api/me", () => (isSignedIn ? { user: null, auth: true, simulated: true, version: "1", needs_setup: false, needs_token: false } : needsToken()))
    .on("POST /api/token", ({ body }) => {
      isSignedIn = (body as { token: string }).token === TOKEN;
      return isSignedIn ? { ok: true } : needsToken();
    });
});

async function enter(token: string) {
  fireEvent.change(await screen.findByLabelText("Start token"), { target: { value: token } });
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Continue" })));
}

test("without the token there is a screen that takes it, and nothing is asked over and over", async () => {
  render(<App />);
  await screen.findByRole("heading", { name: "Enter the start token" });
  for (let turn = 0; turn < 20; turn++) await act(async () => {});
  expect(server.requests("GET", "/api/me")).toHaveLength(1);
  await enter("a wrong one");
  expect((await screen.findByRole("alert")).textContent).toContain("needs its start token");
  await enter(`http://127.0.0.1:4141/?token=${TOKEN}#/agents`);
  await screen.findByRole("heading", { name: "Sign in" });
});

test("the first account needs the token first", async () => {
  let shown = false;
  server
    .on("GET /api/me", () => ({ user: null, auth: true, simulated: true, version: "1", needs_setup: true, needs_token: !shown }))
    .on("POST /api/token", () => {
      shown = true;
      return { ok: true };
    });
  render(<App />);
  await enter(TOKEN);
  await screen.findByRole("button", { name: "Make the first account" });
});

test.each([
  [` ${TOKEN}\n`, TOKEN],
  [`http://127.0.0.1:4141/?token=${TOKEN}`, TOKEN],
  [`http://127.0.0.1:4141/agents?a=1&token=${TOKEN}#/x`, TOKEN],
])("the token is found in what was pasted", (pasted, token) => {
  expect(tokenIn(pasted)).toBe(token);
});
