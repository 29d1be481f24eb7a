// Numbers and times as people read them. What is not known is said, never shown as 0.
const counts = new Intl.NumberFormat("en");

export const unknown = "unknown";

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? unknown : counts.format(value);
}

/** "1 token", "1,234 tokens". */
export const tokens = (value: number | null | undefined): string => `${count(value)} ${value === 1 ? "token" : "tokens"}`;

/** 200000 → 200k, 1048576 → 1M. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return unknown;
  if (value >= 1_000_000) return `${trim(value / 1_000_000)}M`;
  if (value >= 10_000) return `${trim(value / 1_000, 0)}k`;
  if (value >= 1_000) return `${trim(value / 1_000)}k`;
  return trim(value);
}

const trim = (value: number, digits = 1) => counts.format(Number(value.toFixed(digits)));

/** Dollars, with two digits that mean something. */
export function money(value: number | null | undefined): string {
  if (value === null || value === undefined) return unknown;
  if (value === 0) return "$0";
  if (value < 0.0001) return "under $0.0001";
  const digits = value < 1 ? Math.max(2, 1 - Math.floor(Math.log10(value))) : 2;
  return `$${value.toFixed(digits)}`;
}

export function seconds(value: number): string {
  if (value < 1) return "a moment";
  if (value < 60) return `${Math.round(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** "Thought for 12 s", or that it did, when nobody knows how long. */
export function thoughtTime(elapsed: number | null | undefined): string {
  return elapsed === null || elapsed === undefined ? "Thought" : `Thought for ${seconds(elapsed)}`;
}

/** "Thought for 12 s · 1,234 tokens", with only what is known. */
export function thoughtFor(elapsed: number | null | undefined, used: number | null | undefined): string {
  return used ? `${thoughtTime(elapsed)} · ${tokens(used)}` : thoughtTime(elapsed);
}

/** The server gives seconds since 1970 or an ISO text. */
export function dateOf(value: number | string | null | undefined): Date | null {
  if (value === null || value === undefined) return null;
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? null : date;
}

export function when(value: number | string | null | undefined): string {
  return dateOf(value)?.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) ?? "";
}

export type Age = "Today" | "Yesterday" | "Last seven days" | "Earlier";

export function age(value: number | string | null | undefined, now = new Date()): Age {
  const date = dateOf(value);
  if (!date) return "Earlier";
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const days = Math.ceil((midnight - date.getTime()) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return days <= 7 ? "Last seven days" : "Earlier";
}

/** The first words of a thought, without the marks of its markdown. */
export function firstWords(text: string, limit = 120): string {
  const plain = text
    .slice(0, limit * 4)
    .replace(/^\s*(#{1,6}|[-*+>]|\d+\.)\s+/gm, "")
    .replace(/[*_`~]{1,3}/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= limit) return plain;
  const cut = plain.slice(0, limit);
  const space = cut.lastIndexOf(" ");
  return `${space > limit / 2 ? cut.slice(0, space) : cut}…`;
}

/** What is being thought right now: the end of it, begun at a word. */
export function lastWords(text: string, limit = 90): string {
  const plain = firstWords(text.slice(-limit * 3), limit * 3).replace(/…$/, "");
  if (plain.length <= limit) return plain;
  const cut = plain.slice(-limit);
  const space = cut.indexOf(" ");
  return `…${cut.slice(space + 1)}`;
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
