// Line icons, drawn on a 20 by 20 grid.
import type { ReactNode } from "react";

function icon(paths: ReactNode) {
  return function Icon({ className = "size-[18px]" }: { className?: string }) {
    return (
      <svg
        viewBox="0 0 20 20"
        className={`shrink-0 ${className}`}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {paths}
      </svg>
    );
  };
}

/** A thought bubble. */
export const Thought = icon(
  <>
    <path d="M6.4 12a3.4 3.4 0 0 1-.6-6.7A4.4 4.4 0 0 1 14.2 4.8a3.6 3.6 0 0 1 .2 7.2H6.4Z" />
    <circle cx="5.6" cy="15" r="1.1" />
    <circle cx="3" cy="18" r=".6" fill="currentColor" />
  </>,
);
export const Chevron = icon(<path d="m7.5 5 5 5-5 5" />);
export const Left = icon(<path d="m12 5-5 5 5 5" />);
export const Plus = icon(<path d="M10 4v12M4 10h12" />);
export const Search = icon(
  <>
    <circle cx="9" cy="9" r="5" />
    <path d="m13 13 4 4" />
  </>,
);
export const Send = icon(<path d="M10 16V4.5M5 9l5-5 5 5" />);
export const Stop = icon(<rect x="5.5" y="5.5" width="9" height="9" rx="1.5" fill="currentColor" />);
export const Clip = icon(<path d="m15.5 9.5-5.7 5.7a3.5 3.5 0 0 1-5-5l6-6a2.3 2.3 0 0 1 3.3 3.3l-6 6a1.1 1.1 0 0 1-1.6-1.6l5.2-5.2" />);
export const Pencil = icon(<path d="m4 16 .8-3.4L13.4 4a1.5 1.5 0 0 1 2.1 0l.5.5a1.5 1.5 0 0 1 0 2.1l-8.6 8.6L4 16Z" />);
export const Trash = icon(<path d="M4 6h12M8 6V4.5h4V6M6 6l.6 10h6.8L14 6M8.5 9v4.5M11.5 9v4.5" />);
export const Again = icon(<path d="M15.5 10A5.5 5.5 0 1 1 13.6 5.9L15.5 7.5M15.5 4v3.5H12" />);
export const Copy = icon(
  <>
    <rect x="7" y="7" width="9" height="9" rx="1.5" />
    <path d="M13 7V5.5A1.5 1.5 0 0 0 11.5 4h-6A1.5 1.5 0 0 0 4 5.5v6A1.5 1.5 0 0 0 5.5 13H7" />
  </>,
);
export const Check = icon(<path d="m4.5 10.5 3.5 3.5 7.5-8" />);
export const Branch = icon(
  <>
    <circle cx="6" cy="5" r="1.6" />
    <circle cx="6" cy="15" r="1.6" />
    <circle cx="14" cy="7" r="1.6" />
    <path d="M6 6.6v6.8M14 8.6c0 3-4 2.4-7.5 4.6" />
  </>,
);
export const Wrench = icon(<path d="M12.5 4a4 4 0 0 0-3.7 5.4L4 14.2 5.8 16l4.8-4.8A4 4 0 0 0 16 7.5l-2.3 2.3-3-3L13 4.5A4 4 0 0 0 12.5 4Z" />);
export const Gear = icon(<path d="M4 6h7M14 6h2M4 10h2M9 10h7M4 14h7M14 14h2M12.5 4.5v3M7.5 8.5v3M12.5 12.5v3" />);
export const Close = icon(<path d="m5 5 10 10M15 5 5 15" />);
export const Menu = icon(<path d="M3.5 6h13M3.5 10h13M3.5 14h13" />);
export const Robot = icon(
  <>
    <rect x="4" y="7" width="12" height="9" rx="2.5" />
    <path d="M10 7V4M2 11v2M18 11v2M8.5 13.2h3" />
    <circle cx="7.6" cy="10.6" r=".7" fill="currentColor" />
    <circle cx="12.4" cy="10.6" r=".7" fill="currentColor" />
  </>,
);
export const Person = icon(
  <>
    <circle cx="10" cy="7" r="3" />
    <path d="M4 16.5c.7-3 3-4.5 6-4.5s5.3 1.5 6 4.5" />
  </>,
);
export const Chart = icon(<path d="M4 16V9M8 16V4M12 16v-5M16 16V7" />);
export const Sun = icon(
  <>
    <circle cx="10" cy="10" r="3.2" />
    <path d="M10 3v1.5M10 15.5V17M3 10h1.5M15.5 10H17M5 5l1 1M14 14l1 1M15 5l-1 1M6 14l-1 1" />
  </>,
);
export const Moon = icon(<path d="M15.5 12A6.5 6.5 0 0 1 8 4.5a6 6 0 1 0 7.5 7.5Z" />);
export const Download = icon(<path d="M10 4v8.5M6 9l4 4 4-4M4 16h12" />);
export const Picture = icon(
  <>
    <rect x="3.5" y="4.5" width="13" height="11" rx="1.5" />
    <circle cx="7.5" cy="8.5" r="1.2" />
    <path d="m4 14 4-3.5 3 2.5 2.5-2 3 3" />
  </>,
);
export const File = icon(<path d="M6 3.5h5.5L15 7v9.5H6v-13ZM11.5 3.5V7H15" />);
export const Warning = icon(<path d="M10 4 3 16h14L10 4ZM10 9v3.5M10 14.4v.1" />);
export const Dots = icon(
  <>
    <circle cx="4.5" cy="10" r=".8" fill="currentColor" />
    <circle cx="10" cy="10" r=".8" fill="currentColor" />
    <circle cx="15.5" cy="10" r=".8" fill="currentColor" />
  </>,
);
export const Lock = icon(
  <>
    <rect x="4.5" y="9" width="11" height="7.5" rx="1.5" />
    <path d="M7 9V6.5a3 3 0 0 1 6 0V9" />
  </>,
);
