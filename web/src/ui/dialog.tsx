import { type ReactNode, useEffect, useId, useRef } from "react";
import { Close } from "./icons";

/** A window over the page. The browser keeps the focus inside, and gives it back. */
export function Dialog(props: { title: string; onClose: () => void; wide?: boolean; children: ReactNode }) {
  const box = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => {
    const dialog = box.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onMouseDown={(event) => event.target === box.current && props.onClose()}
      className={`m-auto max-h-[90dvh] w-[calc(100vw-2rem)] overflow-hidden rounded-2xl border border-line bg-page p-0 text-ink shadow-2xl ${props.wide ? "max-w-3xl" : "max-w-lg"}`}
    >
      <div className="flex max-h-[90dvh] flex-col">
        <div className="flex items-center justify-between gap-4 border-b border-line py-3 pr-3 pl-6">
          <h2 id={title} className="truncate text-[16px] font-semibold">
            {props.title}
          </h2>
          <button type="button" className="btn-icon" aria-label="Close" onClick={props.onClose}>
            <Close />
          </button>
        </div>
        <div className="min-h-0 overflow-y-auto px-6 py-5" tabIndex={-1}>
          {props.children}
        </div>
      </div>
    </dialog>
  );
}
