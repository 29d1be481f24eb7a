import { call } from "../api/client";
import type { Explained, Message, Usage } from "../api/types";
import { CopyButton } from "../ui/copy";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/hooks";
import { Trouble } from "../ui/trouble";
import { count, money, seconds } from "../ui/words";
import { Coloured } from "./code";

/** What was asked for, what was sent, what came back, and what was changed on the way. */
export function ExplainView({ message, onClose }: { message: Message; onClose: () => void }) {
  const { value, failure } = useLoaded(
    async () => (await call("GET /api/messages/{id}/explain", { path: message })) as Explained,
    [message.id],
  );
  return (
    <Dialog title="Why this answer is as it is" wide onClose={onClose}>
      {failure && <Trouble failure={failure} />}
      {!value && !failure && <p className="hint">Looking…</p>}
      {value && <Explanation value={value} />}
    </Dialog>
  );
}

function Explanation({ value }: { value: Explained }) {
  const request = value.request ? JSON.stringify(value.request, null, 2) : null;
  return (
    <div className="space-y-7">
      <section>
        <h3 className="mb-2 font-semibold">Thinking</h3>
        <div className="grid gap-3 sm:grid-cols-3">
          <Facts title="Asked for" value={value.requested} />
          <Facts title="Sent" value={value.effective} />
          <Facts title="Came back" value={value.observed} />
        </div>
        {value.lines?.map((line) => (
          <p key={line} className="hint mt-2">
            {line}
          </p>
        ))}
      </section>
      <section>
        <h3 className="mb-2 font-semibold">What was changed</h3>
        {value.notes.length === 0 && <p className="hint">Nothing. The request went out as it was asked for.</p>}
        <ul className="space-y-2">
          {value.notes.map((note) => (
            <li key={note.code + note.message} className="[overflow-wrap:anywhere]">
              <code className="mr-2 rounded bg-panel px-1.5 py-0.5 font-mono text-[12.5px] text-soft">{note.code}</code>
              {note.message}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3 className="mb-2 font-semibold">Tokens and cost</h3>
        <Buckets usage={value.usage} cost={value.cost} />
      </section>
      <section>
        <div className="mb-2 flex items-center justify-between">
          <h3 className="font-semibold">The request</h3>
          {request && <CopyButton text={request} />}
        </div>
        {request ? (
          <pre tabIndex={0} className="max-h-96 overflow-auto rounded-xl bg-panel p-4 font-mono text-[12.5px] leading-snug whitespace-pre-wrap [overflow-wrap:anywhere]">
            <Coloured text={request} language="json" />
          </pre>
        ) : (
          <p className="hint">It was not kept.</p>
        )}
        <p className="hint mt-2">Keys and seals are left out.</p>
      </section>
    </div>
  );
}

/** The server's names, where people say it otherwise. */
const NAMES: Record<string, string> = {
  on: "thinking",
  show: "to be shown",
  said: "set as",
  forms: "as",
  sealed: "sealed blocks",
  skipped: "why not",
  finish: "ended with",
  elapsed_thinking: "thought for",
};

function Facts({ title, value }: { title: string; value: unknown }) {
  const pairs = value && typeof value === "object" ? Object.entries(value).filter(([, item]) => item !== null && item !== undefined) : [];
  return (
    <div className="card px-4 py-3">
      <p className="mb-1 text-[13px] text-soft">{title}</p>
      {pairs.length > 0 ? (
        <dl className="space-y-0.5 text-[14px]">
          {pairs.map(([name, item]) => (
            <div key={name} className="flex justify-between gap-3">
              <dt className="shrink-0 text-soft">{NAMES[name] ?? name.replaceAll("_", " ")}</dt>
              <dd className="text-right [overflow-wrap:anywhere]">{name.startsWith("elapsed") && typeof item === "number" ? seconds(item) : word(item)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className="text-[14px]">{typeof value === "string" ? value : "nothing"}</p>
      )}
    </div>
  );
}

function word(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "number") return count(value);
  if (Array.isArray(value)) return value.map(word).join(", ") || "none";
  if (value && typeof value === "object" && "message" in value) return String(value.message);
  return typeof value === "string" ? value : JSON.stringify(value);
}

const BUCKETS: [keyof Usage, string][] = [
  ["input_uncached", "Input, read anew"],
  ["cache_read", "Input, from the cache"],
  ["cache_write", "Input, put into the cache"],
  ["output_reasoning", "Output, thinking"],
  ["output_visible", "Output, answer"],
];

export function Buckets({ usage, cost }: { usage: Usage | null; cost: number | null }) {
  if (!usage) return <p className="hint">The provider did not tell. Cost: {money(cost)}.</p>;
  const rows: [string, string][] = [
    ...BUCKETS.map(([name, label]): [string, string] => [label, count(usage[name])]),
    ["Input together", count(usage.input_total)],
    ["Output together", count(usage.output_total)],
    ["Cost", money(cost)],
  ];
  return (
    <table className="w-full text-[14px]">
      <tbody>
        {rows.map(([label, number], at) => (
          <tr key={label}>
            <th scope="row" className={`border-b border-line py-1.5 text-left ${at < BUCKETS.length ? "font-normal" : "font-semibold"}`}>
              {label}
            </th>
            <td className="border-b border-line py-1.5 text-right tabular-nums">{number}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
