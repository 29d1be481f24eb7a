import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Floating } from "./floating";

export type Item = { label: string; icon?: ReactNode; run?: () => void; href?: string; danger?: boolean };

/** A button that opens a list of things to do. Arrow keys walk it, Escape closes it. */
export function Menu(props: { label: string; icon: ReactNode; items: Item[]; className?: string }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const outside = (event: MouseEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("mousedown", outside);
    return () => document.removeEventListener("mousedown", outside);
  }, [open]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  const walk = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
    if (event.key === "Tab") setOpen(false);
    if (!open) return;
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % items.length)?.focus();
  };

  return (
    <div ref={box} className="relative" onKeyDown={walk}>
      <button
        ref={button}
        type="button"
        className={props.className ?? "btn-icon"}
        aria-label={props.label}
        title={props.label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.icon}
      </button>
      {open && (
        <Floating anchor={button} end role="menu" aria-label={props.label} className="min-w-52 overflow-y-auto rounded-xl p-1.5">
          {props.items.map((item) => (
            <MenuItem key={item.label} item={item} close={close} />
          ))}
        </Floating>
      )}
    </div>
  );
}

function MenuItem({ item, close }: { item: Item; close: () => void }) {
  const look = `flex w-full items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left text-[14px] hover:bg-panel focus-visible:bg-panel ${item.danger ? "text-danger" : "text-ink"}`;
  if (item.href) {
    return (
      <a role="menuitem" className={look} href={item.href} download onClick={close}>
        {item.icon}
        {item.label}
      </a>
    );
  }
  return (
    <button
      type="button"
      role="menuitem"
      className={look}
      onClick={() => {
        close();
        item.run?.();
      }}
    >
      {item.icon}
      {item.label}
    </button>
  );
}
