import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Stays at the newest words until the reader scrolls away, and comes back when asked. */
export function useFollow(): { box: RefObject<HTMLDivElement | null>; inner: RefObject<HTMLDivElement | null>; away: boolean; follow: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const [away, setAway] = useState(false);

  const follow = useCallback(() => {
    pinned.current = true;
    setAway(false);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element || !inner.current) return;
    let height = 0;
    const scrolled = () => {
      // Growth is no scrolling: only the reader's own movement unpins.
      if (element.scrollHeight !== height) return;
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < 60;
      pinned.current = near;
      setAway(!near);
    };
    const grown = new ResizeObserver(() => {
      height = element.scrollHeight;
      if (pinned.current) element.scrollTop = height;
    });
    grown.observe(inner.current);
    grown.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      grown.disconnect();
      element.removeEventListener("scroll", scrolled);
    };
  }, []);

  return { box, inner, away, follow };
}
