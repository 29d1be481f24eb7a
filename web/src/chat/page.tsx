import { useEffect, useMemo, useState } from "react";
import { call, failureFrom, urlOf } from "../api/client";
import type { ConversationChange } from "../api/schema";
import type { Agent, Conversation, Message, Messages, Model } from "../api/types";
import { ModelPicker } from "../agents/picker";
import { useLoaded, tell, useTitle, useTold } from "../ui/hooks";
import { Chevron, Dots, Download, Pencil } from "../ui/icons";
import { Menu } from "../ui/menu";
import { useSay } from "../ui/toasts";
import { Trouble } from "../ui/trouble";
import { Composer } from "./composer";
import { ExplainView } from "./explain";
import { takeFirst } from "./first";
import { type Actions, MessageView } from "./message";
import { Rename } from "./rename";
import { useFollow } from "./scroll";
import { ThinkingButton } from "./settings";
import { type Line, loadConversation, loadMessages } from "./line";
import { type Talk, useTalk } from "./talk";
import { asksNow } from "./groups";
import { Waiting } from "./thinking";

export function ConversationPage({ id }: { id: string }) {
  const about = useLoaded(() => loadConversation(id), [id]);
  const kept = useLoaded(() => loadMessages(id), [id]);
  const failure = about.failure ?? kept.failure;
  if (failure && !(about.value && kept.value)) {
    return (
      <div className="page">
        <Trouble failure={failure} again={() => void Promise.all([about.reload(), kept.reload()])} />
      </div>
    );
  }
  if (!about.value || !kept.value) return <p className="page hint">Opening…</p>;
  return <Talking key={id} conversation={about.value} kept={kept.value} reload={about.reload} set={about.set} />;
}

type TalkingProps = { conversation: Conversation; kept: Messages; reload: () => Promise<void>; set: (told: Conversation) => void };

function Talking({ conversation, kept, reload, set }: TalkingProps) {
  const { id } = conversation;
  const say = useSay();
  const [explained, setExplained] = useState<Message | null>(null);
  const settled = (told: Conversation) => {
    set(told);
    tell({ what: "conversations" });
  };
  const talk = useTalk(conversation, kept, settled);
  const { line } = talk;
  const { box, inner, away, follow } = useFollow();
  const agentId = conversation.agent_id;
  const agent = useLoaded(async () => (agentId ? call("GET /api/agents/{id}", { path: { id: agentId } }) : null), [agentId]).value ?? null;
  useLateTitle(conversation, reload);
  useTitle(conversation.title);

  useTold((told) => {
    if (told.what === "conversations" && told.elsewhere) void reload();
  });

  useEffect(() => {
    const draft = takeFirst(id);
    if (draft) line.send(draft);
  }, [id]);

  const actions = useMemo<Actions>(() => actionsOf(id, line, setExplained, say), [id, line, say]);

  const change = async (body: ConversationChange, words: string) => {
    try {
      await call("PATCH /api/conversations/{id}", { path: { id }, body });
      await reload();
      say(words);
    } catch (error) {
      say(failureFrom(error).message);
    }
  };

  return (
    <div className="flex h-full flex-col">
      <Header conversation={conversation} agent={agent} reload={reload} />
      <div className="relative min-h-0 flex-1">
        <div ref={box} className="h-full overflow-y-auto overscroll-contain [scrollbar-gutter:stable_both-edges]" tabIndex={0} role="region" aria-label="Conversation">
          <div ref={inner} className="mx-auto w-full max-w-3xl space-y-5 px-4 pt-6 pb-8 sm:px-8">
            <Thread talk={talk} actions={actions} />
          </div>
        </div>
        {away && (
          <button type="button" className="btn absolute bottom-3 left-1/2 -translate-x-1/2 shadow-md" onClick={follow}>
            <Chevron className="size-4 rotate-90" /> Newest
          </button>
        )}
      </div>
      <div className="mx-auto w-full max-w-3xl px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-8">
        <p role="status" className="h-6 truncate px-2 text-[13px] text-soft">
          {statusWords(talk)}
        </p>
        <Composer
          autoFocus
          busy={talk.busy}
          onStop={() => void line.stop()}
          onSend={(draft) => {
            line.send(draft);
            follow();
          }}
        >
          <ModelPicker
            compact
            up
            value={conversation.model}
            onChange={(model: Model) => void change({ model: model.name }, `${model.model} answers from now on.`)}
          />
          <ThinkingButton
            model={conversation.model}
            value={conversation.settings.thinking ?? agent?.thinking ?? null}
            onSave={(thinking) => void change({ settings: { thinking } }, "That counts from the next answer on.")}
          />
          <ContextMeter conversation={conversation} />
        </Composer>
      </div>
      {explained && <ExplainView message={explained} onClose={() => setExplained(null)} />}
    </div>
  );
}

/** A title is made in the background after the first answer; it is looked for a few times. */
function useLateTitle({ title, count, running }: Conversation, reload: () => Promise<void>) {
  const waiting = !title && count > 1 && !running;
  useEffect(() => {
    if (!waiting) return;
    const look = () => void reload().then(() => tell({ what: "conversations" }));
    const timers = [1_000, 4_000, 12_000].map((wait) => setTimeout(look, wait));
    return () => timers.forEach(clearTimeout);
  }, [waiting]);
}

function Thread({ talk, actions }: { talk: Talk; actions: Actions }) {
  const last = talk.messages.at(-1);
  const waiting = talk.busy && last?.role === "user";
  return (
    <>
      {talk.messages.map((message, at) => (
        <MessageView
          key={talk.line.keyOf(message.id)}
          message={message}
          siblings={talk.branches[message.id]}
          last={at === talk.messages.length - 1}
          busy={talk.busy}
          actions={actions}
        />
      ))}
      {waiting && (
        <div className="card min-h-14 px-4 py-3.5 sm:px-5">
          <Waiting />
        </div>
      )}
      {talk.failure && !talk.busy && !last?.metadata?.failure && (
        <Trouble failure={talk.failure} again={last?.role === "user" ? () => talk.line.goOn() : undefined} />
      )}
      {!talk.busy && last?.role === "assistant" && last.metadata?.status === "interrupted" && (
        <button type="button" className="btn" onClick={() => talk.line.goOn()}>
          Go on from here
        </button>
      )}
    </>
  );
}

function actionsOf(
  conversation: string,
  line: Line,
  explain: (message: Message) => void,
  say: ReturnType<typeof useSay>,
): Actions {
  const choose = (head: string) => void line.choose(head).catch((error) => say(failureFrom(error).message));
  return {
    conversation,
    explain,
    resend: (message, text) => void line.resend(message, text),
    regenerate: (message) => line.regenerate(message),
    choose,
    branch: (message) => {
      const end = line.chat.messages.at(-1)?.id;
      choose(message.id);
      const undo = end && end !== message.id ? { label: "Undo", run: () => choose(end) } : undefined;
      say("What you write now goes on from here. The rest is kept beside it.", undo);
    },
  };
}

/** For those who hear the page: what is going on, and never the words of the answer. */
function statusWords(talk: Talk): string {
  if (talk.lost) return "The connection was lost. Trying to reconnect…";
  if (!talk.busy) return "";
  const parts = talk.messages.at(-1)?.parts ?? [];
  const ask = asksNow(parts);
  if (ask) return `May ${ask.tool} run? Waiting for your answer.`;
  const last = parts.findLast((part) => part.type !== "step-start" && part.type !== "data-note");
  if (last?.type === "text") return "Answering…";
  if (last?.type === "dynamic-tool") return `Using ${last.toolName}…`;
  return "Thinking…";
}

function Header({ conversation, agent, reload }: { conversation: Conversation; agent: Agent | null; reload: () => Promise<void> }) {
  const [renaming, setRenaming] = useState(false);
  const say = useSay();
  const file = (query: object) => urlOf("/api/conversations/{id}/export", { id: conversation.id }, query);
  const retitle = async () => {
    try {
      await call("POST /api/conversations/{id}/title", { path: conversation });
      await reload();
      tell({ what: "conversations" });
    } catch (error) {
      say(failureFrom(error).message);
    }
  };
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line pr-3 pl-14 md:pl-6">
      <h1 className="min-w-0 flex-1 truncate text-[15.5px] font-semibold">{conversation.title || "New conversation"}</h1>
      {agent && <span className="max-w-40 truncate rounded-full border border-line px-2.5 py-0.5 text-[13px] text-soft">{agent.name}</span>}
      <Menu
        label="Conversation"
        icon={<Dots />}
        items={[
          { label: "Rename", icon: <Pencil />, run: () => setRenaming(true) },
          { label: "Make a title", icon: <Pencil />, run: () => void retitle() },
          { label: "Export as Markdown", icon: <Download />, href: file({ to: "markdown" }) },
          { label: "Export with thinking", icon: <Download />, href: file({ to: "markdown", thinking: 1 }) },
          { label: "Export as JSON lines", icon: <Download />, href: file({ to: "jsonl" }) },
        ]}
      />
      {renaming && <Rename conversation={conversation} onClose={() => setRenaming(false)} onSaved={reload} />}
    </header>
  );
}

function ContextMeter({ conversation }: { conversation: Conversation }) {
  const { context } = conversation;
  if (!context?.shown) return null;
  return (
    <span className="ml-auto hidden min-w-36 truncate pr-2 text-right text-[12.5px] text-soft tabular-nums sm:inline" title="How much of what the model can read at once is in use, in tokens">
      {context.shown} in use
    </span>
  );
}
