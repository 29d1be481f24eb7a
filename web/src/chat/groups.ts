// The parts of a message in their order, with neighbouring thoughts as one.
import type { Approval, Part, Usage } from "../api/types";

type Reasoning = Extract<Part, { type: "reasoning" }>;
export type ToolPart = Extract<Part, { type: "dynamic-tool" }>;

export type Group =
  | { kind: "thinking"; key: string; text: string; live: boolean; elapsed: number | null; tokens: number | null }
  | { kind: "text"; key: string; text: string; live: boolean }
  | { kind: "tool"; key: string; part: ToolPart }
  | { kind: "part"; key: string; part: Part };

const SILENT = new Set(["step-start", "data-note"]);

/**
 * What is shown, top to bottom. The third thought has the same key while the message grows and when it is
 * loaded anew (without the marks of steps), so nothing that is open ever closes.
 */
export function groupsOf(parts: Part[]): Group[] {
  const groups: Group[] = [];
  const seen = new Map<string, number>();
  const key = (kind: string) => {
    const number = seen.get(kind) ?? 0;
    seen.set(kind, number + 1);
    return `${kind} ${number}`;
  };
  for (const part of parts) {
    if (SILENT.has(part.type)) continue;
    const last = groups.at(-1);
    if (part.type === "reasoning") {
      if (last?.kind === "thinking") groups[groups.length - 1] = joined(last, part);
      else if (part.text || part.state === "streaming") groups.push(thinking(part, key("thinking")));
    } else if (part.type === "text") {
      if (part.text) groups.push({ kind: "text", key: key("text"), text: part.text, live: part.state === "streaming" });
    } else if (part.type === "dynamic-tool") groups.push({ kind: "tool", key: key("tool"), part });
    else groups.push({ kind: "part", key: key(part.type), part });
  }
  return groups;
}

type Extra = { elapsed?: number; tokens?: number };
const extraOf = (part: Reasoning): Extra => (part.providerMetadata?.thinkwire as Extra | undefined) ?? {};

function thinking(part: Reasoning, key: string): Group {
  const { elapsed = null, tokens = null } = extraOf(part);
  return { kind: "thinking", key, text: part.text, live: part.state === "streaming", elapsed, tokens };
}

function joined(group: Extract<Group, { kind: "thinking" }>, part: Reasoning): Group {
  const more = extraOf(part);
  return {
    ...group,
    text: [group.text, part.text].filter(Boolean).join("\n\n"),
    live: part.state === "streaming",
    elapsed: sum(group.elapsed, more.elapsed),
    tokens: sum(group.tokens, more.tokens),
  };
}

const sum = (a: number | null, b: number | undefined) => (a === null && b === undefined ? null : (a ?? 0) + (b ?? 0));

/** The question that waits for the reader, if there is one: its tool has neither been decided on nor done anything. */
export function asksNow(parts: Part[]): Approval | null {
  const waiting = parts.flatMap((part) => (part.type === "dynamic-tool" && part.state === "input-available" ? [part.toolCallId] : []));
  const asked = parts.flatMap((part) => (part.type === "data-approval" && part.data.state === "asked" ? [part.data] : []));
  return asked.findLast((ask) => waiting.includes(ask.tool_call_id)) ?? null;
}

/** The words of an answer; its thinking only when asked for. */
export function textOf(parts: Part[], withThinking = false): string {
  return parts
    .flatMap((part) => {
      if (part.type === "text") return [part.text];
      if (withThinking && part.type === "reasoning" && part.text) {
        return [part.text.replace(/^/gm, "> ")];
      }
      return [];
    })
    .join("\n\n");
}

export function reasoningTokens(usage: Usage | null | undefined): number | null {
  return usage?.output_reasoning ?? null;
}
