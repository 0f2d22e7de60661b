/** Frames of a page while a person scrolls it. */
import type { Page } from 'playwright-core';

export interface Scrolling {
  readonly framesPerSecond: number;
  /** The share of the frames that came more than half a frame late, at 60 a second. */
  readonly lateShare: number;
}

const SPEED_PX_PER_SECOND = 1500;
const TURNS = 4;
const LATE_MS = 25;

/** Collects when the page draws. `requestAnimationFrame` waits for script, style and layout: a frame of the compositor alone does not count. */
const COLLECT = `
  window.drawnMs = [];
  const draw = (ms) => {
    window.drawnMs.push(ms);
    window.drawing = requestAnimationFrame(draw);
  };
  window.drawing = requestAnimationFrame(draw);
`;
const END = 'cancelAnimationFrame(window.drawing), window.drawnMs';
const HEIGHT = 'document.documentElement.scrollHeight - innerHeight';

/** Scrolls to the end of the page and back, several times. */
export async function measureScrolling(page: Page): Promise<Scrolling> {
  const distance = await page.evaluate<number>(HEIGHT);
  if (distance <= 0) throw new Error('the page has nothing to scroll');
  const session = await page.context().newCDPSession(page);
  await page.evaluate(COLLECT);
  for (let turn = 0; turn < TURNS; turn += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await session.send('Input.synthesizeScrollGesture', {
      x: 700,
      y: 300,
      yDistance: turn % 2 === 0 ? -distance : distance,
      speed: SPEED_PX_PER_SECOND,
    });
  }
  const drawnMs = await page.evaluate<readonly number[]>(END);
  await session.detach();
  return scrollingOf(drawnMs);
}

function scrollingOf(drawnMs: readonly number[]): Scrolling {
  const gaps = drawnMs.slice(1).map((ms, index) => ms - (drawnMs[index] ?? ms));
  const totalMs = (drawnMs.at(-1) ?? 0) - (drawnMs[0] ?? 0);
  return {
    framesPerSecond: (gaps.length * 1000) / totalMs,
    lateShare: gaps.filter((ms) => ms > LATE_MS).length / gaps.length,
  };
}
