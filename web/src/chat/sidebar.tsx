import { useEffect, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Api } from "../api/schema";
import type { ConversationItem, Me } from "../api/types";
import { go, tell, useLoaded, useRoute, useSettled, useTold } from "../ui/hooks";
import { Chart, Dots, Pencil, Person, Plus, Robot, Search, Thought, Trash } from "../ui/icons";
import { Menu } from "../ui/menu";
import { ThemeButton } from "../ui/theme";
import { useSay } from "../ui/toasts";
import { age, firstWords } from "../ui/words";
import { Rename } from "./rename";

type Page = Api["GET /api/conversations"]["gives"];

export function Sidebar({ me, onSignOut }: { me: Me; onSignOut: () => void }) {
  const route = useRoute();
  const [words, setWords] = useState("");
  const q = useSettled(words, 250);
  const [more, setMore] = useState<Page | null>(null);
  const list = useLoaded(() => call("GET /api/conversations", { query: { q, limit: 40 } }), [q]);
  useEffect(() => setMore(null), [list.value]);
  useTold((told) => {
    if (told.what === "conversations" || told.elsewhere) void list.reload();
  });
  useEffect(() => {
    const back = () => void list.reload();
    addEventListener("focus", back);
    return () => removeEventListener("focus", back);
  }, []);

  const items = [...(list.value?.items ?? []), ...(more?.items ?? [])];
  const next = more ? more.next : list.value?.next;
  const loadMore = async () => {
    const page = await call("GET /api/conversations", { query: { q, limit: 40, before: next ?? "" } });
    setMore({ items: [...(more?.items ?? []), ...page.items], next: page.next });
  };

  return (
    <div className="flex h-full flex-col">
      <div className="flex h-14 shrink-0 items-center gap-2.5 px-4 max-md:pr-12">
        <img src="/icon.svg" alt="" className="size-6" />
        <span className="text-[16px] font-semibold tracking-tight">thinkwire</span>
        {me.simulated && (
          <span className="ml-auto rounded-full border border-line px-2 py-0.5 text-[12px] text-soft" title="No keys, no provider: the answers are scripted.">
            simulated
          </span>
        )}
      </div>
      <div className="space-y-2 px-3">
        <a href="#/" className="btn btn-main w-full">
          <Plus /> New conversation
        </a>
        <div className="relative">
          <span className="pointer-events-none absolute top-2.5 left-2.5 text-soft">
            <Search className="size-4" />
          </span>
          <input
            type="search"
            aria-label="Search conversations"
            placeholder="Search"
            className="field h-9 py-0 pl-8 text-[14px]"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
      </div>
      <nav aria-label="Conversations" className="mt-3 min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {list.failure && <p className="hint px-3 py-2">{list.failure.message}</p>}
        {list.value && !items.length && <p className="hint px-3 py-2">{q ? "No conversation has these words." : "No conversations yet. What you ask is kept here."}</p>}
        <List items={items} current={route[0] === "c" ? (route[1] ?? null) : null} grouped={!q} />
        {next && (
          <button type="button" className="btn btn-quiet mt-1 w-full" onClick={() => void loadMore()}>
            Older
          </button>
        )}
      </nav>
      <Foot me={me} onSignOut={onSignOut} at={route[0]} />
    </div>
  );
}

function List(props: { items: ConversationItem[]; current: string | null; grouped: boolean }) {
  let before = "";
  return (
    <ul>
      {props.items.map((item) => {
        const group = props.grouped ? age(item.updated) : "";
        const heading = group !== before ? group : "";
        before = group;
        return (
          <li key={item.id}>
            {heading && <p className="px-3 pt-3 pb-1 text-[12.5px] font-medium text-soft">{heading}</p>}
            <Entry item={item} current={item.id === props.current} found={!props.grouped} />
          </li>
        );
      })}
    </ul>
  );
}

function Entry({ item, current, found }: { item: ConversationItem; current: boolean; found: boolean }) {
  const [renaming, setRenaming] = useState(false);
  const say = useSay();
  const title = item.title || firstWords(item.preview) || "New conversation";
  const bin = async () => {
    try {
      await call("DELETE /api/conversations/{id}", { path: item });
      tell({ what: "conversations" });
      if (current) go();
      const back = async () => {
        await call("POST /api/conversations/{id}/restore", { path: item });
        tell({ what: "conversations" });
        go("c", item.id);
      };
      say("The conversation is deleted.", { label: "Undo", run: () => void back(), focus: true });
    } catch (error) {
      say(failureFrom(error).message);
    }
  };
  return (
    <div className={`group/entry flex items-center rounded-lg pr-1 ${current ? "bg-tint" : "hover:bg-raised"}`}>
      <a
        href={`#/c/${encodeURIComponent(item.id)}`}
        aria-current={current ? "page" : undefined}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-lg px-3 py-1.5 text-[14px]"
      >
        <span className="min-w-0">
          <span className="block truncate">{title}</span>
          {found && item.preview && <span className="line-clamp-2 text-[12.5px] leading-snug text-soft">{firstWords(item.preview, 160)}</span>}
        </span>
        {item.running && (
          <>
            <Thought className="breathe size-4 text-accent" />
            <span className="sr-only">is thinking</span>
          </>
        )}
      </a>
      <div className="opacity-0 group-focus-within/entry:opacity-100 group-hover/entry:opacity-100 max-md:opacity-100">
        <Menu
          label={`More for ${title}`}
          icon={<Dots className="size-4" />}
          className="btn-icon size-7"
          items={[
            { label: "Rename", icon: <Pencil />, run: () => setRenaming(true) },
            { label: "Delete", icon: <Trash />, danger: true, run: () => void bin() },
          ]}
        />
      </div>
      {renaming && <Rename conversation={item} onClose={() => setRenaming(false)} />}
    </div>
  );
}

function Foot({ me, onSignOut, at }: { me: Me; onSignOut: () => void; at: string | undefined }) {
  const link = (to: string, label: string, icon: React.ReactNode) => (
    <a
      href={`#/${to}`}
      aria-current={at === to ? "page" : undefined}
      className={`flex items-center gap-2.5 rounded-lg px-3 py-1.5 text-[14px] hover:bg-raised ${at === to ? "bg-tint" : ""}`}
    >
      {icon}
      {label}
    </a>
  );
  return (
    <div className="space-y-0.5 border-t border-line p-2">
      {link("agents", "Agents", <Robot />)}
      {link("usage", "Usage", <Chart />)}
      {me.auth && me.user?.admin && link("users", "People", <Person />)}
      <div className="flex items-center gap-2 pt-1 pl-3">
        <span className="min-w-0 flex-1 truncate text-[13px] text-soft">{me.auth && me.user ? me.user.name : `version ${me.version}`}</span>
        {me.auth && me.user && (
          <button type="button" className="btn btn-quiet h-8 px-2 text-[13px]" onClick={onSignOut}>
            Sign out
          </button>
        )}
        <ThemeButton />
      </div>
    </div>
  );
}
