import { memo } from "react";
import { CopyButton } from "../ui/copy";
import { highlight, type Token } from "./highlight";

/** Code with its language, a button to copy it, and a way to scroll it with the keyboard. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const label = language || "code";
  return (
    <div className="my-4 rounded-xl border border-line bg-thought">
      <div className="flex h-9 items-center justify-between pr-1 pl-4 text-[12.5px] text-soft">
        <span className="truncate">{label}</span>
        <CopyButton text={text} label="Copy code" />
      </div>
      <pre tabIndex={0} role="group" aria-label={`Code, ${label}`} className="overflow-x-auto px-4 pb-3.5 font-mono text-[13.5px] leading-relaxed">
        <Coloured text={text} language={language} />
      </pre>
    </div>
  );
}

/** Code in the colours of its language. Of code that grows only the lines that changed are drawn again. */
export const Coloured = memo(function Coloured({ text, language }: { text: string; language: string }) {
  const lines = highlight(text, language);
  return (
    <code>
      {lines.map((tokens, at) => (
        <Line key={at} tokens={tokens} last={at === lines.length - 1} />
      ))}
    </code>
  );
});

type LineProps = { tokens: Token[]; last: boolean };

const Line = memo(
  function Line({ tokens, last }: LineProps) {
    return (
      <span>
        {tokens.map(({ text, kind }, at) =>
          kind ? (
            <span key={at} className={`code-${kind}`}>
              {text}
            </span>
          ) : (
            text
          ),
        )}
        {last ? "" : "\n"}
      </span>
    );
  },
  (before, after) => before.last === after.last && same(before.tokens, after.tokens),
);

const same = (a: Token[], b: Token[]) =>
  a.length === b.length && a.every((token, at) => token.text === b[at]?.text && token.kind === b[at]?.kind);
