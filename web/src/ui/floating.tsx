import { type HTMLAttributes, type RefObject, useLayoutEffect, useRef } from "react";

export type Box = { left: number; top: number; width: number; height: number };
export type Size = { width: number; height: number };
export type Wish = { up: boolean; end: boolean };

const GAP = 6;
const MARGIN = 8;

/** Where a box goes: beside its anchor, on the wished side if it fits there, and never outside the window. */
export function placed(anchor: Box, box: Size, pane: Size, { up, end }: Wish): { left: number; top: number; room: number } {
  const above = anchor.top - GAP - MARGIN;
  const below = pane.height - anchor.top - anchor.height - GAP - MARGIN;
  const upwards = up ? above >= box.height || above >= below : below < box.height && above > below;
  const room = Math.max(0, upwards ? above : below);
  const height = Math.min(box.height, room);
  const left = end ? anchor.left + anchor.width - box.width : anchor.left;
  return {
    left: Math.max(MARGIN, Math.min(left, pane.width - MARGIN - box.width)),
    top: upwards ? anchor.top - GAP - height : anchor.top + anchor.height + GAP,
    room,
  };
}

type Props = HTMLAttributes<HTMLDivElement> & { anchor: RefObject<HTMLElement | null>; up?: boolean; end?: boolean };

/** A box above everything else, which nothing on the page can cut off. It stays with its anchor. */
export function Floating({ anchor, up = false, end = false, className = "", ...rest }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.showPopover?.();
    const place = () => {
      if (!anchor.current) return;
      element.style.maxHeight = "none";
      const size = { width: element.offsetWidth, height: element.offsetHeight };
      const { left, top, room } = placed(anchor.current.getBoundingClientRect(), size, { width: innerWidth, height: innerHeight }, { up, end });
      element.style.maxHeight = `${room}px`;
      element.style.left = `${left}px`;
      element.style.top = `${top}px`;
    };
    place();
    const grown = new ResizeObserver(place);
    for (const child of element.children) grown.observe(child);
    addEventListener("resize", place);
    addEventListener("scroll", place, true);
    return () => {
      grown.disconnect();
      removeEventListener("resize", place);
      removeEventListener("scroll", place, true);
    };
  }, [anchor, up, end]);
  return <div ref={box} popover="manual" className={`floating rise ${className}`} {...rest} />;
}
