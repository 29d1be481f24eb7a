import { describe, expect, test } from "vitest";
import { highlight, LONGEST } from "../src/chat/highlight";
import { languageNames, languageOf } from "../src/chat/languages";
import { CORPUS } from "./xss";

/** The pieces of a kind, in their order. */
const of = (kind: string, code: string, language: string) =>
  highlight(code, language)
    .flat()
    .filter((token) => token.kind === kind)
    .map((token) => token.text);
const joined = (code: string, language: string) =>
  highlight(code, language)
    .map((line) => line.map((token) => token.text).join(""))
    .join("\n");

test.each<[string, string, string, string[]]>([
  ["python", "word", "def f(x):\n    return not x  # if", ["def", "return", "not"]],
  ["python", "comment", "x = '#no'  # yes\ny = 1", ["# yes"]],
  ["python", "string", 'f"{a}" + """two\nlines""" + rb\'x\'', ['f"{a}"', '"""two', 'lines"""', "rb'x'"]],
  ["py", "number", "x2 = 1_000 + 0xFF - 2.5e3", ["1_000", "0xFF", "2.5e3"]],
  ["python", "name", "print(len(x))", ["print", "len"]],
  ["python", "type", "@dataclass\nclass Square: pass", ["@dataclass", "Square"]],
  ["tsx", "string", "const a = `b ${c}`; // `no`\nconst d = /['\"]/g", ["`b ${c}`", "/['\"]/g"]],
  ["ts", "comment", "a /* b\nc */ d", ["/* b", "c */"]],
  ["js", "number", "a / 2 / b", ["2"]],
  ["rust", "type", "fn f<'a>(x: &'a str) { println!(\"{x}\") }", ["'a", "'a", "println!"]],
  ["rust", "string", "let c = 'x'; let s = \"y\";", ["'x'", '"y"']],
  ["c", "type", "#include <stdio.h>\nint main() {}", ["#include"]],
  ["sql", "word", "SELECT a FROM b -- WHERE", ["SELECT", "FROM"]],
  ["sh", "name", "thinkwire serve --sim -p $PORT", ["--sim", "-p"]],
  ["bash", "type", "echo $HOME/${X}#no # yes", ["$HOME", "${X}"]],
  ["json", "name", '{"a": "b", "c": [1]}', ['"a"', '"c"']],
  ["json", "word", '{"a": true, "b": null}', ["true", "null"]],
  ["yaml", "name", "a: 1\n- b-c: http://x", ["a", "b-c"]],
  ["toml", "type", "[a.b]\nc = 1", ["[a.b]"]],
  ["html", "word", '<a href="x>">don\'t</a>', ["<a", ">", "</a>"]],
  ["css", "name", "a { color: red; --x: 1px }", ["color", "--x"]],
  ["diff", "added", "@@ 1 @@\n-old\n+new\n+++ b", ["+new"]],
  ["diff", "removed", "--- a\n-old", ["-old"]],
])("%s: the %ss of %j are %j", (language, kind, code, expected) => {
  expect(of(kind, code, language)).toEqual(expected);
});

test.each(["", "text", "klingon", "constructor", "__proto__"])("a language like %j has no colours", (language) => {
  expect(highlight("if x: return 1", language)).toEqual([[{ text: "if x: return 1", kind: null }]]);
  expect(languageOf(language)).toBeNull();
});

describe.each(languageNames)("%s", (language) => {
  test("every character stays, also in what was written to do harm", () => {
    const all = [...CORPUS, "", "\n\n", "“ünï” 'x\\", '"""', "/*", "`${", "#", "<!--", "a\r\nb\u2028c", "'".repeat(7)];
    for (const code of [...all, all.join("\n")]) expect(joined(code, language)).toBe(code);
  });

  test("while it is written every part of it stays, too", () => {
    const code = "# a\nlet x = 'y' /* \"z */ + `1`\n-b: \"\"\"c\n<d e='f'>";
    for (let end = 0; end <= code.length; end++) expect(joined(code.slice(0, end), language)).toBe(code.slice(0, end));
  });

  test("no text keeps it busy", () => {
    const begun = performance.now();
    for (const piece of ['"', "'", "`", "/*", "//", "\\", "<", "<!--", "#", "--", "-", " ", "=/", "$", "${", "a", "1", "1.", "[", "a:", ":", "&", '"""', "é", "\n"]) {
      highlight(piece.repeat(LONGEST / piece.length), language);
    }
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

test("what is longer than anybody reads is shown without colours", () => {
  const code = "x = 1\n".repeat(LONGEST / 6 + 1);
  expect(of("number", code, "python")).toEqual([]);
  expect(joined(code, "python")).toBe(code);
});
