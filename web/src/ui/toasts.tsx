import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

type Toast = { id: number; text: string; action?: { label: string; run: () => void } };
type Say = (text: string, action?: Toast["action"]) => void;

const Saying = createContext<Say>(() => {});
export const useSay = () => useContext(Saying);

/** Short messages at the edge, read out politely, with an action while they stay. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const say = useCallback<Say>(
    (text, action) => {
      const id = Date.now() + Math.random();
      setToasts((all) => [...all.slice(-2), { id, text, action }]);
      setTimeout(() => drop(id), action ? 12_000 : 5_000);
    },
    [drop],
  );
  
  return (
    <Saying.Provider value={say}>
      {children}
      <div role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2 px-4">
        {toasts.map((toast) => (
          <div
            key={toast.id}
            className="rise pointer-events-auto flex max-w-full items-center gap-3 rounded-xl bg-ink py-2 pr-3 pl-4 text-[14px] text-page shadow-lg"
          >
            <span className="truncate">{toast.text}</span>
            {toast.action && (
              <button
                type="button"
                className="rounded-md px-2 py-0.5 font-semibold underline underline-offset-2"
                onClick={() => {
                  drop(toast.id);
                  toast.action?.run();
                }}
              >
                {toast.action.label}
              </button>
            )}
          </div>
        ))}
      </div>
    </Saying.Provider>
  );
}
