// Markdown of a model. All of it is untrusted: HTML is shown as text, links open apart, pictures are links.
import { memo } from "react";
import { type Components, defaultRehypePlugins, defaultRemarkPlugins, Streamdown } from "streamdown";
import { Picture } from "../ui/icons";
import { CodeBlock } from "./code";

type Node = { type: string; value?: string; children?: Node[] };

/** HTML in the source becomes the text that it is. */
export function htmlAsText() {
  return function walk(node: Node): void {
    if (node.type === "html") node.type = "text";
    node.children?.forEach(walk);
  };
}

const remark = [...Object.values(defaultRemarkPlugins), htmlAsText];
// `raw` would parse HTML; nothing of it is left to parse, and nothing shall come back.
const rehype = [defaultRehypePlugins.sanitize, defaultRehypePlugins.harden].filter((plugin) => plugin !== undefined);

const SAFE = /^(https?:|mailto:)/i;

export function safeUrl(url: string | undefined): string | null {
  if (!url) return null;
  try {
    const parsed = new URL(url, location.origin);
    return SAFE.test(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

function Link({ href, children }: { href?: string; children?: React.ReactNode }) {
  const url = safeUrl(href);
  if (!url) return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
      {children}
    </a>
  );
}

/** A picture from elsewhere would tell its host who reads this. It is a link, which nobody follows unasked. */
function Image({ src, alt }: { src?: string | Blob; alt?: string }) {
  const url = safeUrl(typeof src === "string" ? src : undefined);
  if (!url) return <span className="text-soft">[picture: {alt || "no description"}]</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={url} className="inline-flex max-w-full items-center gap-1.5">
      <Picture />
      <span className="truncate">
        Picture{alt ? `: ${alt}` : ""} ({new URL(url).hostname})
      </span>
    </a>
  );
}

function Table({ children }: { children?: React.ReactNode }) {
  return (
    <div className="my-4 max-w-full overflow-x-auto rounded-lg border border-line" tabIndex={0} role="region" aria-label="Table">
      <table className="w-full text-[14px]">{children}</table>
    </div>
  );
}

function Code({ node }: { node?: Hast }) {
  const code = node?.children?.[0];
  const language = String(code?.properties?.className ?? "").replace(/^language-/, "");
  return <CodeBlock text={textIn(code).replace(/\n$/, "")} language={language} />;
}

type Hast = { value?: string; properties?: Record<string, unknown>; children?: Hast[] };
const textIn = (node: Hast | undefined): string => node?.value ?? node?.children?.map(textIn).join("") ?? "";

function InlineCode({ children }: { children?: React.ReactNode }) {
  return <code className="rounded bg-panel px-1.5 py-0.5 font-mono text-[0.88em]">{children}</code>;
}

const components = { a: Link, img: Image, table: Table, pre: Code, code: InlineCode } as unknown as Components;

export const Markdown = memo(function Markdown(props: { text: string; live?: boolean; className?: string }) {
  return (
    <Streamdown
      className={`prose-tw ${props.className ?? ""}`}
      mode={props.live ? "streaming" : "static"}
      isAnimating={props.live ?? false}
      components={components}
      controls={false}
      linkSafety={{ enabled: false }}
      remarkPlugins={remark}
      rehypePlugins={rehype}
    >
      {props.text}
    </Streamdown>
  );
});
