import { type DependencyList, useCallback, useEffect, useRef, useState } from "react";
import { failureFrom } from "../api/client";
import type { Failure } from "../api/types";

export type Loaded<T> = {
  value: T | undefined;
  failure: Failure | undefined;
  loading: boolean;
  reload: () => Promise<void>;
  set: (value: T) => void;
};

/** A value from the server. A newer request wins over an older one, whichever comes back first. */
export function useLoaded<T>(load: () => Promise<T>, deps: DependencyList): Loaded<T> {
  const [value, setValue] = useState<T>();
  const [failure, setFailure] = useState<Failure>();
  const [loading, setLoading] = useState(true);
  const turn = useRef(0);
  const latest = useRef(load);
  latest.current = load;

  const reload = useCallback(async () => {
    const mine = ++turn.current;
    setLoading(true);
    try {
      const got = await latest.current();
      if (mine !== turn.current) return;
      setValue(got);
      setFailure(undefined);
    } catch (error) {
      if (mine === turn.current) setFailure(failureFrom(error));
    } finally {
      if (mine === turn.current) setLoading(false);
    }
  }, []);

  useEffect(() => {
    void reload();
  }, deps);

  return { value, failure, loading, reload, set: setValue };
}

/** A value that has stood still for a while. */
export function useSettled<T>(value: T, wait = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return settled;
}

/** Where we are: the part of the address after `#/`. */
export function useRoute(): string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
}

export function go(...parts: string[]): void {
  location.hash = `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Something changed that others show: here, and in every other tab of this browser. */
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("thinkwire");
const here = new EventTarget();

export type Told = { what: "conversations" } | { what: "conversation"; id: string };

export function tell(told: Told): void {
  here.dispatchEvent(new CustomEvent("told", { detail: { ...told, elsewhere: false } }));
  channel?.postMessage(told);
}

/** Something changed in another browser. */
export function hear(told: Told): void {
  here.dispatchEvent(new CustomEvent("told", { detail: { ...told, elsewhere: true } }));
}

export function useTold(hear: (told: Told & { elsewhere: boolean }) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const local = (event: Event) => latest.current((event as CustomEvent).detail);
    const remote = (event: MessageEvent) => latest.current({ ...event.data, elsewhere: true });
    here.addEventListener("told", local);
    channel?.addEventListener("message", remote);
    return () => {
      here.removeEventListener("told", local);
      channel?.removeEventListener("message", remote);
    };
  }, []);
}

const APP = "thinkwire";

/** What the tab is called, and what is read out when the page changes. */
export function useTitle(title: string | null | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · ${APP}` : APP;
    return () => {
      document.title = APP;
    };
  }, [title]);
}
