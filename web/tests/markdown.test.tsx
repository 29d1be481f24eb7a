import { render, screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { Markdown, safeUrl } from "../src/chat/markdown";
import { CORPUS } from "./xss";

const HARMLESS = /^(https?:|mailto:)/;

function inspect(root: HTMLElement) {
  const elements = [...root.querySelectorAll("*")];
  expect(elements.filter((one) => /^(script|iframe|object|embed|style|base|meta|form|link|img|math)$/i.test(one.tagName))).toEqual([]);
  for (const one of elements) {
    for (const { name, value } of one.attributes) {
      expect(name).not.toMatch(/^on/i);
      if (["href", "src", "action", "xlink:href", "srcdoc"].includes(name)) expect(value).toMatch(HARMLESS);
      if (name === "style") expect(value).not.toMatch(/url\(|fixed/);
    }
    if (one.tagName === "A") expect(one.getAttribute("rel")).toContain("noopener noreferrer");
  }
}

describe.each([false, true])("live: %s", (live) => {
  test.each(CORPUS)("%j is only text", (attack) => {
    const { container } = render(<Markdown text={`before\n\n${attack}\n\nafter`} live={live} />);
    inspect(container);
    expect(container.textContent).toContain("before");
    expect((window as { hacked?: number }).hacked).toBeUndefined();
  });
});

test("HTML is shown as it was written", () => {
  const { container } = render(<Markdown text={"Use <b>bold</b> here"} />);
  expect(container.textContent).toContain("<b>bold</b>");
  expect(container.querySelector("b")).toBeNull();
});

test("links open apart and say nothing about where they came from", () => {
  render(<Markdown text="[site](https://example.org/a)" />);
  const link = screen.getByRole("link", { name: "site" });
  expect(link.getAttribute("target")).toBe("_blank");
  expect(link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
});

test("a picture from elsewhere is fetched only by a click, which opens it apart", () => {
  const { container } = render(<Markdown text="![chart](https://example.org/a.png)" />);
  expect(container.querySelector("img")).toBeNull();
  const link = screen.getByRole("link", { name: "Picture: chart (example.org)" });
  expect(link.getAttribute("href")).toBe("https://example.org/a.png");
  expect(link.getAttribute("rel")).toContain("noreferrer");
});

test("code, lists, tables and emphasis are drawn", () => {
  const { container } = render(<Markdown text={"**b**\n\n- one\n\n| a |\n|---|\n| 1 |\n\n```py\nprint(1)\n```"} />);
  expect(container.querySelector("li")?.textContent).toContain("one");
  expect(container.querySelector("td")?.textContent).toBe("1");
  expect(container.querySelector("pre, code")?.textContent).toContain("print(1)");
});

test.each(["javascript:1", "data:text/html,x", "file:///etc/passwd", "blob:x", "", undefined])("%s is no address", (url) => {
  expect(safeUrl(url)).toBeNull();
});
