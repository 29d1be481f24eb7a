import { describe, expect, test } from "vitest";
import { placed } from "../src/ui/floating";

const pane = { width: 400, height: 800 };
const anchor = (left: number, top: number) => ({ left, top, width: 40, height: 30 });
const menu = { width: 200, height: 100 };

test("a box is below its button, at the side that was wished for", () => {
  expect(placed(anchor(50, 100), menu, pane, { up: false, end: false })).toMatchObject({ left: 50, top: 136 });
  expect(placed(anchor(300, 100), menu, pane, { up: false, end: true })).toMatchObject({ left: 140, top: 136 });
});

test("it goes to the other side where it does not fit", () => {
  expect(placed(anchor(50, 760), menu, pane, { up: false, end: false }).top).toBe(654);
  expect(placed(anchor(50, 20), menu, pane, { up: true, end: false }).top).toBe(56);
});

describe.each([
  { width: 320, height: 300 },
  { width: 1280, height: 860 },
])("in a window of %j", (window) => {
  test.each([menu, { width: 384, height: 700 }])("a box of %j never leaves it", (size) => {
    for (const up of [true, false]) {
      for (let top = 0; top < window.height - 30; top += 17) {
        for (let left = -20; left < window.width; left += 37) {
          const box = { ...size, width: Math.min(size.width, window.width - 16) };
          const place = placed(anchor(left, top), box, window, { up, end: up });
          expect(place.left).toBeGreaterThanOrEqual(8);
          expect(place.left + box.width).toBeLessThanOrEqual(window.width - 8);
          expect(place.top).toBeGreaterThanOrEqual(8 - 1e-9);
          expect(place.top + Math.min(box.height, place.room)).toBeLessThanOrEqual(Math.max(window.height - 8, place.top));
        }
      }
    }
  });
});
