import { memo, useEffect, useRef, useState } from "react";
import type { Message, Note } from "../api/types";
import { CopyButton, useCopy } from "../ui/copy";
import { Again, Branch, Chevron, Dots, File, Left, Pencil } from "../ui/icons";
import { Menu } from "../ui/menu";
import { Trouble } from "../ui/trouble";
import { money, thoughtFor, tokens, when } from "../ui/words";
import { asksNow, type Group, groupsOf, reasoningTokens, textOf } from "./groups";
import { Markdown } from "./markdown";
import { Stub, Thinking, Waiting } from "./thinking";
import { ApprovalAsk, ToolCall } from "./tool";

export type Actions = {
  conversation: string;
  resend: (message: Message, text: string) => void;
  regenerate: (message: Message) => void;
  branch: (message: Message) => void;
  choose: (head: string) => void;
  explain: (message: Message) => void;
};

type Props = { message: Message; siblings: string[] | undefined; last: boolean; busy: boolean; actions: Actions };

export const MessageView = memo(function MessageView(props: Props) {
  return props.message.role === "user" ? <Said {...props} /> : <Answer {...props} />;
});

function Said({ message, siblings, busy, actions }: Props) {
  const [editing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const left = useRef(false);
  // Whoever leaves an edit stands where they came from.
  useEffect(() => {
    if (!editing && left.current) pencil.current?.focus();
    left.current = false;
  }, [editing]);
  const text = textOf(message.parts);
  const files = message.parts.filter((part) => part.type === "file");
  if (editing) {
    return (
      <Edit
        text={text}
        onCancel={() => {
          left.current = true;
          setEditing(false);
        }}
        onSend={(changed) => {
          setEditing(false);
          actions.resend(message, changed);
        }}
      />
    );
  }
  return (
    <article className="message group flex flex-col items-end" aria-label="You">
      {files.length > 0 && (
        <div className="mb-1.5 flex max-w-[85%] flex-wrap items-end justify-end gap-2">
          {files.map((file) => (
            <FileView key={file.url} url={file.url} name={file.filename ?? "file"} type={file.mediaType} />
          ))}
        </div>
      )}
      {text && (
        <div className="max-w-[85%] rounded-2xl rounded-br-md bg-tint px-4 py-2.5 [overflow-wrap:anywhere] whitespace-pre-wrap">
          {text}
        </div>
      )}
      <Row align="end">
        <Siblings id={message.id} siblings={siblings} choose={actions.choose} disabled={busy} />
        <CopyButton text={text} />
        <button ref={pencil} type="button" className="btn-icon" aria-label="Edit and resend" title="Edit and resend" disabled={busy} onClick={() => setEditing(true)}>
          <Pencil className="size-4" />
        </button>
      </Row>
    </article>
  );
}

function Answer({ message, siblings, last, busy, actions }: Props) {
  const metadata = message.metadata ?? {};
  const groups = groupsOf(message.parts);
  const running = busy && last;
  const thoughts = groups.filter((group) => group.kind === "thinking").length;
  const words = groups.some((group) => group.kind === "text");
  const asked = asksNow(message.parts);
  const copy = useCopy();
  return (
    <article className="message group" aria-label="Answer" aria-busy={running}>
      <div className="card min-h-14 space-y-3 px-4 py-3.5 sm:px-5">
        {groups.map((group) => (
          <GroupView key={group.key} group={group} message={message} alone={thoughts === 1} running={running} conversation={actions.conversation} />
        ))}
        {running && !words && !asked && !groups.some(isLive) && <Waiting />}
        {metadata.thinking_skipped && !running && <Stub title="No thinking to show:">{metadata.thinking_skipped.message}.</Stub>}
        {metadata.status === "interrupted" && !running && <p className="text-[13.5px] text-soft">Stopped here. What arrived is kept.</p>}
        {metadata.failure && !running && <Trouble failure={metadata.failure} since={metadata.updated} again={() => actions.regenerate(message)} />}
        <Notes notes={notesOf(message)} explain={() => actions.explain(message)} />
      </div>
      <Row align="start" hidden={running}>
        <Siblings id={message.id} siblings={siblings} choose={actions.choose} disabled={busy} />
        <CopyButton text={textOf(message.parts)} />
        <button type="button" className="btn-icon" aria-label="Answer again" title="Answer again" disabled={busy} onClick={() => actions.regenerate(message)}>
          <Again className="size-4" />
        </button>
        <button type="button" className="btn-icon" aria-label="Branch from here" title="Branch from here" disabled={busy} onClick={() => actions.branch(message)}>
          <Branch className="size-4" />
        </button>
        <Menu
          label="More"
          icon={<Dots className="size-4" />}
          items={[
            { label: "Explain this answer", run: () => actions.explain(message) },
            { label: "Copy with thinking", run: () => void copy(textOf(message.parts, true)) },
          ]}
        />
        <Numbers message={message} thoughts={thoughts} />
      </Row>
    </article>
  );
}

const isLive = (group: Group) => group.kind === "thinking" && group.live;

function GroupView(props: { group: Group; message: Message; alone: boolean; running: boolean; conversation: string }) {
  const { group, message, alone, running, conversation } = props;
  if (group.kind === "thinking") {
    const { elapsed_thinking: elapsed = null, usage } = message.metadata ?? {};
    const used = group.tokens ?? (alone ? reasoningTokens(usage) : null);
    return <Thinking text={group.text} live={group.live} elapsed={group.elapsed ?? (alone ? elapsed : null)} tokens={used} />;
  }
  if (group.kind === "text") return <Markdown text={group.text} live={group.live} />;
  if (group.kind === "tool") return <ToolCall part={group.part} asked={running && asksNow(message.parts)?.tool_call_id === group.part.toolCallId} />;
  const { part } = group;
  if (part.type === "data-redacted") return <Stub title={stubTitle(part.data.form)}>{part.data.why}</Stub>;
  if (part.type === "data-approval") return <ApprovalAsk ask={part.data} conversation={conversation} live={running} />;
  if (part.type === "file") return <FileView url={part.url} name={part.filename ?? "file"} type={part.mediaType} />;
  return null;
}

const stubTitle = (form: string) =>
  ({ redacted: "Redacted thinking.", hidden: "Hidden thinking." })[form] ?? "Thinking that cannot be shown.";

function notesOf(message: Message): Note[] {
  const inside = message.parts.flatMap((part) => (part.type === "data-note" ? [part.data] : []));
  const all = [...inside, ...(message.metadata?.notes ?? [])];
  return [...new Map(all.map((note) => [`${note.code} ${note.message}`, note])).values()];
}

function Notes({ notes, explain }: { notes: Note[]; explain: () => void }) {
  if (!notes.length) return null;
  return (
    <ul className="space-y-0.5 border-t border-line pt-2 text-[13px] text-soft">
      {notes.map((note) => (
        <li key={`${note.code} ${note.message}`} className="[overflow-wrap:anywhere]">
          {note.message}{" "}
          <button type="button" className="underline underline-offset-2 hover:text-ink" aria-label={`why? ${note.code}`} onClick={explain}>
            why?
          </button>
        </li>
      ))}
    </ul>
  );
}

function Numbers({ message, thoughts }: { message: Message; thoughts: number }) {
  const { model, usage, cost, elapsed_thinking: elapsed, created } = message.metadata ?? {};
  const words = [
    model,
    thoughts > 1 && thoughtFor(elapsed, reasoningTokens(usage)),
    usage && `${tokens(usage.output_total)} out`,
    cost !== null && cost !== undefined && money(cost),
  ].filter(Boolean);
  return (
    <span className="ml-1 truncate text-[12.5px] text-soft" title={when(created)}>
      {words.join(" · ")}
    </span>
  );
}

/** What can be done with a message. While it is written there is nothing yet, but the room for it. */
function Row({ align, hidden, children }: { align: "start" | "end"; hidden?: boolean; children: React.ReactNode }) {
  const place = align === "end" ? "justify-end" : "";
  return <div className={`mt-1 flex h-8 max-w-full items-center gap-0.5 ${place} ${hidden ? "invisible" : ""}`}>{children}</div>;
}

function Siblings(props: { id: string; siblings: string[] | undefined; choose: (head: string) => void; disabled: boolean }) {
  const { id, siblings = [], choose, disabled } = props;
  const at = siblings.indexOf(id);
  if (siblings.length < 2 || at < 0) return null;
  const step = (to: string | undefined, label: string, icon: React.ReactNode) => (
    <button type="button" className="btn-icon" aria-label={label} disabled={disabled || !to} onClick={() => to && choose(to)}>
      {icon}
    </button>
  );
  return (
    <span className="flex items-center text-[12.5px] text-soft tabular-nums">
      {step(siblings[at - 1], "Earlier version", <Left className="size-4" />)}
      {at + 1}/{siblings.length}
      {step(siblings[at + 1], "Later version", <Chevron className="size-4" />)}
    </span>
  );
}

function Edit(props: { text: string; onCancel: () => void; onSend: (text: string) => void }) {
  const [text, setText] = useState(props.text);
  return (
    <form
      className="ml-auto w-full max-w-[85%] space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) props.onSend(text);
      }}
    >
      <textarea
        autoFocus
        aria-label="Edit your message"
        className="field min-h-24"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && props.onCancel()}
      />
      <div className="flex justify-end gap-2">
        <button type="button" className="btn btn-quiet" onClick={props.onCancel}>
          Cancel
        </button>
        <button type="submit" className="btn btn-main" disabled={!text.trim()}>
          Send
        </button>
      </div>
    </form>
  );
}

/** Only files of our own server are shown in place; anything else is a name. */
function FileView({ url, name, type }: { url: string; name: string; type: string }) {
  const ours = url.startsWith("/api/");
  if (ours && type.startsWith("image/")) {
    return <img src={url} alt={name} className="h-40 max-w-full rounded-xl border border-line object-contain" />;
  }
  const look = "inline-flex max-w-64 items-center gap-2 rounded-xl border border-line bg-raised px-3 py-2 text-[13.5px]";
  const inside = (
    <>
      <File />
      <span className="truncate">{name}</span>
    </>
  );
  if (!ours) return <span className={look}>{inside}</span>;
  return (
    <a href={url} download className={look}>
      {inside}
    </a>
  );
}
