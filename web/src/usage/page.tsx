import { useState } from "react";
import { call } from "../api/client";
import type { UsageRow } from "../api/types";
import { useLoaded, useTitle } from "../ui/hooks";
import { Page } from "../ui/page";
import { Trouble } from "../ui/trouble";
import { count, money, short, unknown } from "../ui/words";
import { DayChart, Legend, Shares } from "./charts";
import { added, by, days, type Sums, thinkingShare } from "./numbers";

const SPANS = [7, 30, 90];
const TOKENS = [
  { label: "Thinking", className: "fill-accent", of: (sums: Sums) => sums.thinking },
  { label: "Answer", className: "fill-accent-soft", of: (sums: Sums) => sums.answer },
];

/** Seconds from UTC to where the reader is, whose days are counted. */
const offset = () => -new Date().getTimezoneOffset() * 60;
const localDay = (ago: number) => new Date(Date.now() + offset() * 1000 - ago * 86_400_000).toISOString().slice(0, 10);

export function UsagePage() {
  const [span, setSpan] = useState(30);
  useTitle("Usage");
  const [table, setTable] = useState(false);
  const until = localDay(0);
  const since = localDay(span - 1);
  const { value, failure, reload } = useLoaded(
    async () => (await call("GET /api/usage", { query: { since, offset: offset() } })).rows,
    [since],
  );
  return (
    <Page wide>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-2xl font-semibold">Usage</h1>
        <div className="flex gap-2">
          <select aria-label="Time" className="field h-9 w-auto py-0 text-[14px]" value={span} onChange={(event) => setSpan(Number(event.target.value))}>
            {SPANS.map((one) => (
              <option key={one} value={one}>
                Last {one} days
              </option>
            ))}
          </select>
          <button type="button" className="btn" aria-pressed={table} onClick={() => setTable(!table)}>
            {table ? "Charts" : "Table"}
          </button>
        </div>
      </div>
      {failure && (
        <div className="mt-6">
          <Trouble failure={failure} again={() => void reload()} />
        </div>
      )}
      {value && <Summary sums={added(value)} />}
      {value?.length === 0 && <p className="mt-10 text-soft">Nothing was asked in this time. What your answers take is drawn here by day, model and agent.</p>}
      {value && value.length > 0 && (table ? <Table rows={value} /> : <Charts rows={value} days={days(since, until)} />)}
    </Page>
  );
}

function Summary({ sums }: { sums: Sums }) {
  const share = thinkingShare(sums);
  const facts: [string, string][] = [
    ["Thinking share", share === null ? unknown : `${Math.round(share * 100)} %`],
    ["Thinking tokens", count(sums.thinking)],
    ["Answer tokens", count(sums.answer)],
    ["Cost", money(sums.cost)],
  ];
  return (
    <>
      <dl className="mt-6 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {facts.map(([name, value]) => (
          <div key={name} className="card px-4 py-3">
            <dt className="text-[13px] text-soft">{name}</dt>
            <dd className="mt-0.5 text-[20px] font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {sums.unknown > 0 && <p className="hint mt-3">Answers that came without all their numbers: {count(sums.unknown)}. What they did not tell is not in these sums.</p>}
    </>
  );
}

const agentOf = (row: UsageRow) => row.agent ?? (row.agent_id ? "A deleted agent" : "No agent");
const modelOf = (row: UsageRow) => row.model ?? "unknown model";

function Charts({ rows, days: all }: { rows: UsageRow[]; days: string[] }) {
  const daily = new Map(by(rows, (row) => row.day.slice(0, 10)));
  const values = (of: (sums: Sums) => number | null) => all.map((day) => of(daily.get(day) ?? added([])) ?? 0);
  const most = ([, a]: [string, Sums], [, b]: [string, Sums]) => (b.thinking ?? 0) + (b.answer ?? 0) - (a.thinking ?? 0) - (a.answer ?? 0);
  const tokens = TOKENS.map(({ label, className, of }) => ({ label, className, values: values(of) }));
  return (
    <div className="mt-8 space-y-8">
      <Section title="Output tokens by day" extra={<Legend series={TOKENS} />}>
        <DayChart label="Thinking and answer tokens by day" days={all} series={tokens} format={short} />
      </Section>
      <Section title="Cost by day">
        <DayChart
          label="Cost by day"
          days={all}
          series={[{ label: "Cost", className: "fill-accent", values: values((sums) => sums.cost) }]}
          format={money}
        />
      </Section>
      <Section title="By model">
        <Shares label="By model" rows={by(rows, modelOf).sort(most)} />
      </Section>
      <Section title="By agent">
        <Shares label="By agent" rows={by(rows, agentOf).sort(most)} />
      </Section>
    </div>
  );
}

function Section({ title, extra, children }: { title: string; extra?: React.ReactNode; children: React.ReactNode }) {
  return (
    <section className="card p-5">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {extra}
      </div>
      {children}
    </section>
  );
}

const COLUMNS: [string, (row: UsageRow) => string][] = [
  ["Day", (row) => row.day.slice(0, 10)],
  ["Model", modelOf],
  ["Agent", agentOf],
  ["Input", (row) => count(row.input_total)],
  ["Cached", (row) => count(row.cache_read)],
  ["Thinking", (row) => count(row.output_reasoning)],
  ["Answer", (row) => count(row.output_visible)],
  ["Cost", (row) => money(row.cost)],
];

function Table({ rows }: { rows: UsageRow[] }) {
  return (
    <div className="card mt-8 overflow-x-auto" tabIndex={0} role="region" aria-label="Usage as a table">
      <table className="w-full text-[13.5px]">
        <thead>
          <tr className="border-b border-line text-left text-soft">
            {COLUMNS.map(([name], at) => (
              <th key={name} scope="col" className={`px-3 py-2 font-medium ${at > 2 ? "text-right" : ""}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.day} ${row.model} ${agentOf(row)}`} className="border-b border-line last:border-0">
              {COLUMNS.map(([name, cell], at) => (
                <td key={name} className={`px-3 py-2 whitespace-nowrap ${at > 2 ? "text-right tabular-nums" : ""}`}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
