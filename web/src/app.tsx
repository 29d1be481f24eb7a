import { lazy, Suspense, useEffect, useState } from "react";
import { Entry, TokenEntry } from "./account/entry";
import { call, signedOut } from "./api/client";
import { useNews } from "./api/news";
import type { Me } from "./api/types";
import { NewConversation } from "./chat/new";
import { Sidebar } from "./chat/sidebar";
import { go, useLoaded, useRoute } from "./ui/hooks";
import { Close, Menu } from "./ui/icons";
import { Toasts } from "./ui/toasts";
import { Trouble } from "./ui/trouble";

const conversation = () => import("./chat/page");
const ConversationPage = lazy(() => conversation().then((page) => ({ default: page.ConversationPage })));
const AgentList = lazy(() => import("./agents/list").then((page) => ({ default: page.AgentList })));
const AgentForm = lazy(() => import("./agents/form").then((page) => ({ default: page.AgentForm })));
const UsagePage = lazy(() => import("./usage/page").then((page) => ({ default: page.UsagePage })));
const UsersPage = lazy(() => import("./account/users").then((page) => ({ default: page.UsersPage })));

export function App() {
  const { value: me, failure, reload } = useLoaded(() => call("GET /api/me"), []);
  const route = useRoute();
  useEffect(() => {
    const out = () => void reload();
    signedOut.addEventListener("out", out);
    return () => signedOut.removeEventListener("out", out);
  }, [reload]);

  if (failure?.kind === "start_token" || (me?.needs_setup && me.needs_token)) {
    return <TokenEntry onDone={() => void reload()} />;
  }
  if (!me) {
    return <main className="page">{failure && <Trouble failure={failure} again={() => void reload()} />}</main>;
  }
  if (me.auth && !me.user) {
    const joining = route[0] === "join" && route[1];
    const done = async () => {
      if (joining) go();
      await reload();
    };
    const kind = joining ? "join" : me.needs_setup ? "setup" : "login";
    return <Entry key={kind} kind={kind} token={joining || undefined} onDone={() => void done()} />;
  }
  const signOut = async () => {
    await call("POST /api/logout");
    go();
    await reload();
  };
  return (
    <Toasts>
      <Shell me={me} route={route} onSignOut={() => void signOut()} />
    </Toasts>
  );
}

function Shell({ me, route, onSignOut }: { me: Me; route: string[]; onSignOut: () => void }) {
  const [open, setOpen] = useState(false);
  useNews();
  // Most of the code is there to show answers. It comes after the first page, and before the first answer.
  useEffect(() => void conversation(), []);
  const where = route.join("/");
  useEffect(() => setOpen(false), [where]);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => event.key === "Escape" && setOpen(false);
    addEventListener("keydown", escape);
    return () => removeEventListener("keydown", escape);
  }, []);
  return (
    <div className="flex h-dvh overflow-hidden">
      <a href="#main" className="btn sr-only z-50 focus:not-sr-only focus:absolute focus:top-2 focus:left-2" onClick={skip}>
        Skip to the content
      </a>
      <button
        type="button"
        className="btn-icon fixed top-3 left-3 z-20 md:hidden"
        aria-label="Conversations"
        aria-expanded={open}
        aria-controls="sidebar"
        onClick={() => setOpen(true)}
      >
        <Menu />
      </button>
      {open && <div className="fixed inset-0 z-30 bg-(--shade) md:hidden" onClick={() => setOpen(false)} aria-hidden="true" />}
      <aside
        id="sidebar"
        aria-label="Sidebar"
        className={`z-40 w-72 shrink-0 border-r border-line bg-panel max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:shadow-xl max-md:transition-transform ${open ? "" : "max-md:invisible max-md:-translate-x-full"}`}
      >
        {open && (
          <button type="button" className="btn-icon absolute top-3 right-2 z-10 md:hidden" aria-label="Close the sidebar" autoFocus onClick={() => setOpen(false)}>
            <Close />
          </button>
        )}
        <Sidebar me={me} onSignOut={onSignOut} />
      </aside>
      <main id="main" tabIndex={-1} className="relative h-full min-w-0 flex-1 outline-none">
        <Suspense fallback={<p className="page hint">Opening…</p>}>
          <Place me={me} route={route} />
        </Suspense>
      </main>
    </div>
  );
}

/** The address belongs to the pages, so the link moves the focus itself. */
function skip(event: React.MouseEvent) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Place({ me, route: [place, id] }: { me: Me; route: string[] }) {
  if (place === "c" && id) return <ConversationPage key={id} id={id} />;
  if (place === "agents" && id) return <AgentForm key={id} id={id === "new" ? null : id} />;
  if (place === "agents") return <AgentList />;
  if (place === "usage") return <UsagePage />;
  if (place === "users" && me.auth) return <UsersPage me={me} />;
  return <NewConversation agentId={place === "new" && id ? id : null} simulated={me.simulated} />;
}
