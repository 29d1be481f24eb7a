import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { Tools } from "../src/agents/tools";
import { Server } from "./server";

const OWN = { name: "read_file", description: "Reads a file.", effect: "read", server: null };
const ADD = { name: "mcp__sums__add", description: "Adds two numbers.", effect: "run", server: "sums" };

test("tools of a server that is still being started come by themselves", async () => {
  let asked = 0;
  new Server()
    .on("GET /api/tools", () => (asked < 2 ? [OWN] : [OWN, ADD]))
    .on("GET /api/tools/servers", () => [{ name: "sums", state: ++asked < 2 ? "connecting" : "connected", error: null }]);
  const chosen = vi.fn();
  render(<Tools chosen={[]} onChange={chosen} />);
  await userEvent.click(await screen.findByRole("checkbox", { name: /^mcp__sums__add.*MCP server sums/ }));
  expect(chosen).toHaveBeenCalledWith(["mcp__sums__add"]);
  expect(asked).toBe(2);
});

test("a server that cannot be had is named with what is wrong, and what it had can be given up", async () => {
  new Server()
    .on("GET /api/tools", () => [OWN])
    .on("GET /api/tools/servers", () => [{ name: "sums", state: "failed", error: "no licence" }]);
  const chosen = vi.fn();
  render(<Tools chosen={["read_file", "mcp__sums__add"]} onChange={chosen} />);
  await waitFor(() => expect(screen.getByText("The MCP server sums is not there: no licence")).toBeTruthy());
  await userEvent.click(screen.getByRole("checkbox", { name: /^mcp__sums__add.*It is not offered now/ }));
  expect(chosen).toHaveBeenCalledWith(["read_file"]);
});

test("where there are no servers, the tools are asked for once", async () => {
  const server = new Server().on("GET /api/tools", () => [OWN]).on("GET /api/tools/servers", () => []);
  render(<Tools chosen={[]} onChange={() => {}} />);
  await screen.findByRole("checkbox", { name: /^read_file/ });
  expect(server.requests("GET", "/api/tools")).toHaveLength(1);
});
