// What other browsers of the same user do, heard while this tab is looked at.
import { useEffect } from "react";
import { hear } from "../ui/hooks";
import { ApiError, ask, urlOf } from "./client";
import type { Events } from "./schema";

const PAUSE = 3_000;

/** Hidden tabs do not listen: a browser has few connections to a server, and they look again when they are shown. */
export function useNews(): void {
  useEffect(() => {
    const listening = new Listening();
    const shown = () => (document.visibilityState === "visible" ? listening.begin() : listening.end());
    shown();
    document.addEventListener("visibilitychange", shown);
    return () => {
      document.removeEventListener("visibilitychange", shown);
      listening.end();
    };
  }, []);
}

class Listening {
  private after = "";
  private going: AbortController | null = null;

  begin(): void {
    if (this.going) return;
    this.going = new AbortController();
    void this.listen(this.going.signal);
  }

  end(): void {
    this.going?.abort();
    this.going = null;
  }

  private async listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const heard = await ask(urlOf("/api/events", {}, { after: this.after }), { signal });
        const news: Events = await heard.json();
        this.after = news.after;
        tellAbout(news.conversations);
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return;
        if (!signal.aborted) await new Promise((resume) => setTimeout(resume, PAUSE));
      }
    }
  }
}

/** Where anything may have changed, everything looks again as if the tab had been away. */
function tellAbout(conversations: string[] | null): void {
  if (conversations === null) dispatchEvent(new Event("focus"));
  for (const id of conversations ?? []) hear({ what: "conversation", id });
}
