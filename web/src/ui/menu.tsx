import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

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
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !open) return;
    event.preventDefault();
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
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
        <div
          role="menu"
          aria-label={props.label}
          className="rise absolute right-0 z-30 mt-1 min-w-52 rounded-xl border border-line bg-raised p-1.5 shadow-xl"
        >
          {props.items.map((item) => (
            <MenuItem key={item.label} item={item} close={close} />
          ))}
        </div>
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
