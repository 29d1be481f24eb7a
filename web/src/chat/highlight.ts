// Code as coloured pieces. Whatever is in doubt stays as it is: a wrong colour is worse than none.
import { type Kind, type Language, languageOf } from "./languages";

export type { Kind } from "./languages";
export type Token = { text: string; kind: Kind | null };

/** Beyond this many characters code is shown without colours: nobody reads them, and everybody waits for them. */
export const LONGEST = 60_000;

const NAME = String.raw`(?<id>[\p{L}_$][\p{L}\p{N}_$]*)`;

type Scanner = { pattern: RegExp; kinds: Kind[]; words: Set<string>; anyCase: boolean };
const scanners = new WeakMap<Language, Scanner>();

function scannerOf(language: Language): Scanner {
  const known = scanners.get(language);
  if (known) return known;
  const rules = language.rules.map(([, source], at) => `(?<k${at}>${source})`);
  const made = {
    pattern: new RegExp([...rules, ...(language.words ? [NAME] : [])].join("|"), "gmu"),
    kinds: language.rules.map(([kind]) => kind),
    words: new Set(language.words?.split(" ")),
    anyCase: language.anyCase ?? false,
  };
  scanners.set(language, made);
  return made;
}

/** The lines of a code, each in pieces; together they are the code, character for character. */
export function highlight(code: string, name: string): Token[][] {
  const language = code.length <= LONGEST ? languageOf(name) : null;
  return lines(language ? pieces(code, scannerOf(language)) : [{ text: code, kind: null }]);
}

function pieces(code: string, scanner: Scanner): Token[] {
  const found: Token[] = [];
  const add = (text: string, kind: Kind | null) => {
    const last = found.at(-1);
    if (last && last.kind === kind) last.text += text;
    else if (text) found.push({ text, kind });
  };
  let end = 0;
  for (const match of code.matchAll(scanner.pattern)) {
    add(code.slice(end, match.index), null);
    end = match.index + match[0].length;
    add(match[0], kindOf(match, scanner, code[end]));
  }
  add(code.slice(end), null);
  return found;
}

function kindOf(match: RegExpExecArray, { kinds, words, anyCase }: Scanner, next: string | undefined): Kind | null {
  const name = match.groups?.id;
  if (name === undefined) return kinds.find((_, at) => match.groups?.[`k${at}`] !== undefined) ?? null;
  if (words.has(anyCase ? name.toLowerCase() : name)) return "word";
  if (next === "(") return "name";
  return /^\p{Lu}\p{L}*\p{Ll}/u.test(name) ? "type" : null;
}

function lines(tokens: Token[]): Token[][] {
  const all: Token[][] = [[]];
  for (const { text, kind } of tokens) {
    text.split("\n").forEach((line, at) => {
      if (at > 0) all.push([]);
      if (line) all.at(-1)?.push({ text: line, kind });
    });
  }
  return all;
}
