// Plain SVG. Every chart has its numbers in words and a table beside it.
import { type RefObject, useEffect, useRef, useState } from "react";
import { money, short, unknown } from "../ui/words";
import type { Sums } from "./numbers";

const HEIGHT = 200;
const LEFT = 52;
const BOTTOM = 22;

export function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((top) => top >= value) ?? value;
}

type Series = { label: string; className: string; values: number[] };

/** Bars by day, one on top of the other. */
export function DayChart(props: { label: string; days: string[]; series: Series[]; format: (value: number) => string }) {
  const { days, series } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const totals = days.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0));
  const top = niceTop(Math.max(...totals, 0));
  const plot = HEIGHT - BOTTOM - 8;
  const slot = (width - LEFT) / Math.max(1, days.length);
  const bar = Math.min(28, slot * 0.7);
  const y = (value: number) => 8 + plot - (value / top) * plot;
  const every = Math.ceil(days.length / Math.max(2, width / 80));
  return (
    <div ref={box}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={props.label} className="block h-auto w-full">
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={LEFT} x2={width} y1={y(top * part)} y2={y(top * part)} className="stroke-line" />
            <text x={LEFT - 8} y={y(top * part) + 4} textAnchor="end" className="fill-soft text-[11px]">
              {props.format(top * part)}
            </text>
          </g>
        ))}
        {days.map((day, at) => {
          let height = 0;
          const x = LEFT + slot * at + (slot - bar) / 2;
          return (
            <g key={day}>
              {series.map((one) => {
                const value = one.values[at] ?? 0;
                height += value;
                return (
                  <rect key={one.label} x={x} width={bar} y={y(height)} height={Math.max(0, (value / top) * plot)} className={one.className}>
                    <title>{`${day}, ${one.label}: ${props.format(value)}`}</title>
                  </rect>
                );
              })}
              {at % every === 0 && (
                <text x={LEFT + slot * (at + 0.5)} y={HEIGHT - 5} textAnchor="middle" className="fill-soft text-[11px]">
                  {day.slice(5)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** One unit of a drawing is one pixel, so that its letters have the same size everywhere. */
function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!box.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(200, Math.round(entry.contentRect.width))));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [box]);
  return width;
}

export function Legend({ series }: { series: Pick<Series, "label" | "className">[] }) {
  return (
    <ul className="flex flex-wrap gap-4 text-[13px] text-soft">
      {series.map((one) => (
        <li key={one.label} className="flex items-center gap-1.5">
          <svg viewBox="0 0 10 10" className="size-2.5" aria-hidden="true">
            <rect width="10" height="10" rx="2" className={one.className} />
          </svg>
          {one.label}
        </li>
      ))}
    </ul>
  );
}

function written({ thinking, answer, cost }: Sums): string {
  if (thinking === null && answer === null && cost === null) return unknown;
  return `${short(thinking)} thinking · ${short(answer)} answer · ${cost === null ? `cost ${unknown}` : money(cost)}`;
}

/** One line for each model or agent: how much it wrote, and how much of that was thought. */
export function Shares({ rows, label }: { rows: [string, Sums][]; label: string }) {
  const most = Math.max(1, ...rows.map(([, sums]) => (sums.thinking ?? 0) + (sums.answer ?? 0)));
  return (
    <ul aria-label={label} className="space-y-3">
      {rows.map(([name, sums]) => (
        <li key={name}>
          <div className="mb-1 flex flex-wrap justify-between gap-x-4 text-[14px]">
            <span className="truncate">{name}</span>
            <span className="shrink-0 text-soft tabular-nums">
              {written(sums)}
            </span>
          </div>
          <svg viewBox="0 0 100 3" preserveAspectRatio="none" className="h-2 w-full overflow-hidden rounded-full bg-panel" aria-hidden="true">
            <rect width={((sums.thinking ?? 0) / most) * 100} height="3" className="fill-accent" />
            <rect x={((sums.thinking ?? 0) / most) * 100} width={((sums.answer ?? 0) / most) * 100} height="3" className="fill-accent-soft" />
          </svg>
        </li>
      ))}
    </ul>
  );
}
