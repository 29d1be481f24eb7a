// How languages are written, as data: what begins a comment, a string, a number, and which words are theirs.
// Every pattern reads a text once from left to right, so that no text of a model can keep the page busy.
export type Kind = "comment" | "string" | "number" | "word" | "name" | "type" | "added" | "removed";
export type Rule = readonly [Kind, string];
export type Language = { rules: readonly Rule[]; words?: string; anyCase?: boolean };

const SLASHES: Rule = ["comment", String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$(?![^]))`];
const ANY_HASH: Rule = ["comment", "#[^\\n]*"];
const HASH: Rule = ["comment", String.raw`(?<![^\s;(])#[^\n]*`];
const DASHES: Rule = ["comment", String.raw`--[^\n]*`];

const DOUBLE = String.raw`"(?:\\[^]|[^"\\\n])*"?`;
const SINGLE = String.raw`'(?:\\[^]|[^'\\\n])*'?`;
const BACKTICK = String.raw`\x60(?:\\[^]|[^\x60\\])*\x60?`;
const TRIPLE = String.raw`"""[^]*?(?:"""|$(?![^]))|'''[^]*?(?:'''|$(?![^]))`;
const QUOTED: Rule = ["string", `${DOUBLE}|${SINGLE}`];
const NUMBER: Rule = ["number", String.raw`(?<![\p{L}\w$])\d[\w.]*`];
const SIGNED: Rule = ["number", String.raw`(?<![\p{L}\w$])-?\d[\w.]*(?:(?<=[eE])[+-]\d+)?`];

const CURLY_WORDS =
  "if else for while do switch case default break continue return class new try catch finally throw this super static const import public private protected void null true false enum interface extends implements abstract package boolean int long float double char byte short";

const curly = (words: string, ...first: Rule[]): Language => ({ rules: [...first, SLASHES, QUOTED, NUMBER], words: `${CURLY_WORDS} ${words}` });
const hashed = (words: string, ...first: Rule[]): Language => ({ rules: [...first, HASH, QUOTED, NUMBER], words });

const LANGUAGES: Record<string, Language> = {
  python: {
    rules: [ANY_HASH, ["string", String.raw`(?:\b[rbfuRBFU]{1,2})?(?:${TRIPLE}|${DOUBLE}|${SINGLE})`], ["type", String.raw`@[\w.]+`], NUMBER],
    words:
      "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
  },
  javascript: curly(
    "var let function async await of in instanceof typeof delete yield export from as default undefined get set type keyof readonly declare namespace satisfies never unknown any string number is infer",
    ["string", BACKTICK],
    ["string", String.raw`(?<=[=(,:?]\s?)\/(?![*\/])(?:\\.|\[(?:\\.|[^\]\\\n]){0,80}\]|[^\/\\\n[]){1,200}\/[a-z]*`],
  ),
  java: curly("final synchronized volatile transient native throws instanceof record sealed permits var yield assert", ["string", TRIPLE], ["type", String.raw`@\w+`]),
  kotlin: curly("fun val var when is in object data sealed companion override open internal suspend inline by init constructor lateinit out it", ["string", TRIPLE], ["type", String.raw`@\w+`]),
  swift: curly("func let var guard defer where self nil struct protocol extension some any inout mutating init deinit throws async await in is as fileprivate internal", ["string", TRIPLE], ["type", String.raw`@\w+`]),
  c: curly(
    "struct union typedef sizeof unsigned signed volatile extern inline register goto namespace template typename using virtual override public operator auto constexpr delete nullptr bool noexcept decltype string namespace var using async await out ref in is foreach get set readonly base sealed record delegate where yield",
    ["type", String.raw`^[ \t]*#[ \t]*\w+`],
  ),
  go: curly("func var type struct map chan go defer range select fallthrough goto nil string error bool any int8 int16 int32 int64 uint uint8 uint32 uint64 rune float32 float64 make append len", ["string", BACKTICK]),
  rust: {
    rules: [SLASHES, ["type", String.raw`#!?\[[^\]\n]*\]|'[a-z_]\w*\b(?!')|\b\w+!(?=[\s([{])`], ["string", String.raw`b?${DOUBLE}|'(?:\\[^\n]{1,8}|[^'\\\n])'`], NUMBER],
    words:
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char str u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64",
  },
  php: curly("function fn use namespace echo print foreach as array isset unset trait global require include once match readonly and or not", HASH, ["type", String.raw`\$\w+`]),
  ruby: hashed(
    "def end class module if elsif else unless while until for in do begin rescue ensure raise return yield self super nil true false and or not then case when require require_relative attr_reader attr_accessor attr_writer include extend puts lambda proc",
    ["type", String.raw`(?<![:\w]):[a-z_]\w*|@{1,2}\w+`],
  ),
  shell: hashed(
    "if then elif else fi for while until in do done case esac function select return export local readonly declare unset set source alias exit echo cd sudo exec eval trap",
    ["type", String.raw`\$(?:\w+|[@*#?$!-]|\{[^}\n]*\}?)`],
    ["name", String.raw`(?<=\s)--?[A-Za-z][\w-]*`],
  ),
  sql: {
    rules: [DASHES, SLASHES, QUOTED, NUMBER],
    words:
      "select from where and or not in is null as on join left right inner outer full cross group by order having limit offset insert into values update set delete create table index view drop alter add column primary key foreign references unique default constraint distinct union all case when then else end exists between like returning with recursive begin commit rollback true false asc desc if using over partition integer text varchar boolean timestamp",
    anyCase: true,
  },
  json: { rules: [SLASHES, ["name", String.raw`"(?:\\[^]|[^"\\\n])*"(?=\s{0,20}:)`], ["string", DOUBLE], SIGNED], words: "true false null" },
  yaml: hashed("true false null yes no on off", ["name", String.raw`(?<=^[ \t-]{0,60})(?<![\w.\/$])[\w\/$][\w.\/$-]*(?=:(?:\s|$))`], ["type", String.raw`[&*!][A-Za-z]\w*`]),
  toml: hashed("true false", ["string", TRIPLE], ["type", String.raw`^[ \t]*\[[^\n]*\]`], ["name", String.raw`^[ \t]*[\w."-]+(?=[ \t]{0,20}=)`]),
  html: {
    rules: [
      ["comment", String.raw`<!--[^]*?(?:-->|$(?![^]))`],
      ["word", String.raw`<\/?[A-Za-z!?][\w:.-]*|\/?>`],
      ["string", String.raw`(?<==\s?)(?:"[^"]*"?|'[^']*'?)`],
      ["name", String.raw`(?<![\w:@.-])[\w:@.-]+(?==["'{])`],
      ["number", String.raw`&[#\w]{1,12};`],
    ],
  },
  css: {
    rules: [
      SLASHES,
      QUOTED,
      ["word", String.raw`@[\w-]+|!important`],
      ["name", String.raw`(?<![\w-])--?[A-Za-z][\w-]*|(?<![\w-])[a-z][a-z-]*(?=\s{0,8}:[^:])`],
      ["number", String.raw`#[\da-fA-F]{3,8}\b|(?<![\w-])-?\d*\.?\d+(?:%|[a-z]+)?`],
    ],
  },
  lua: { rules: [DASHES, QUOTED, NUMBER], words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while" },
  r: hashed("if else for while repeat function return next break TRUE FALSE NULL NA Inf in library require"),
  docker: hashed("FROM AS RUN CMD COPY ADD ENV ARG WORKDIR EXPOSE ENTRYPOINT USER VOLUME LABEL HEALTHCHECK SHELL ONBUILD", ["type", String.raw`\$(?:\w+|\{[^}\n]*\}?)`]),
  diff: {
    rules: [
      ["comment", String.raw`^(?:@@|diff |index |\+\+\+ |--- )[^\n]*`],
      ["added", String.raw`^\+[^\n]*`],
      ["removed", String.raw`^-[^\n]*`],
    ],
  },
};

const OTHER_NAMES: Record<string, string> = {
  py: "python", python3: "python", pycon: "python", ipython: "python",
  js: "javascript", jsx: "javascript", mjs: "javascript", ts: "javascript", tsx: "javascript", typescript: "javascript",
  kt: "kotlin", scala: "kotlin", dart: "java", groovy: "java",
  cpp: "c", "c++": "c", cc: "c", h: "c", hpp: "c", cs: "c", csharp: "c", "c#": "c", objc: "c",
  golang: "go", rs: "rust", rb: "ruby", sh: "shell", bash: "shell", zsh: "shell", console: "shell", makefile: "shell",
  postgresql: "sql", sqlite: "sql", mysql: "sql", json5: "json", jsonc: "json", jsonl: "json", ndjson: "json",
  yml: "yaml", ini: "toml", conf: "toml", xml: "html", svg: "html", vue: "html", svelte: "html",
  scss: "css", less: "css", dockerfile: "docker", patch: "diff",
};

/** The language of this name, by whatever name it goes; nothing for one that is not known. */
export function languageOf(name: string): Language | null {
  const key = name.toLowerCase();
  const found = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : key;
  return found !== undefined && Object.hasOwn(LANGUAGES, found) ? (LANGUAGES[found] ?? null) : null;
}

export const languageNames = Object.keys(LANGUAGES);
