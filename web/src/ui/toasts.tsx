import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";

/** With `focus` it is where the keyboard stands next: whoever deleted something stood on what is gone. */
type Action = { label: string; run: () => void; focus?: boolean };
type Toast = { id: number; text: string; action?: Action };
type Say = (text: string, action?: Action) => void;

const Saying = createContext<Say>(() => {});
export const useSay = () => useContext(Saying);

const STAYS = 5_000;
const STAYS_WITH_ACTION = 15_000;

/** Short messages at the edge, read out politely, with an action while they stay. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const say = useCallback<Say>((text, action) => {
    setToasts((all) => [...all.slice(-2), { id: Date.now() + Math.random(), text, action }]);
  }, []);

  return (
    <Saying.Provider value={say}>
      {children}
      <div role="status" className="pointer-events-none fixed inset-x-0 top-16 z-50 flex flex-col items-center gap-2 px-4">
        {toasts.map((toast) => (
          <ToastView key={toast.id} toast={toast} drop={drop} />
        ))}
      </div>
    </Saying.Provider>
  );
}

/** It goes by itself, but not while somebody points at it or stands on it. */
function ToastView({ toast, drop }: { toast: Toast; drop: (id: number) => void }) {
  const [held, setHeld] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => drop(toast.id), toast.action ? STAYS_WITH_ACTION : STAYS);
    return () => clearTimeout(timer);
  }, [held, toast, drop]);
  useEffect(() => {
    if (toast.action?.focus) button.current?.focus();
  }, [toast]);
  return (
    <div
      className="rise pointer-events-auto flex max-w-full items-center gap-3 rounded-xl bg-ink py-2 pr-3 pl-4 text-[14px] text-page shadow-lg"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={(event) => setHeld(event.target.matches(":focus-visible"))}
      onBlur={() => setHeld(false)}
    >
      <span className="line-clamp-3">{toast.text}</span>
      {toast.action && (
        <button
          ref={button}
          type="button"
          className="rounded-md px-2 py-0.5 font-semibold underline underline-offset-2 focus-visible:outline-page"
          onClick={() => {
            drop(toast.id);
            toast.action?.run();
          }}
        >
          {toast.action.label}
        </button>
      )}
    </div>
  );
}
