/** Records what each page of the console shows while something happens, as somebody would see it who has all of them open. In a real browser. */
import type { Browser } from 'playwright-core';
import { PAGES, type PageName } from '../../../src/console/state/pages/address.ts';
import { openPage, type WatchedPage } from '../browser.ts';

export interface ShownText {
  readonly atMs: number;
  readonly text: string;
}

export interface PageRecorder {
  /** Every text that the page has shown, the oldest first. */
  shown(name: PageName): Promise<readonly ShownText[]>;
  /** What the pages did wrong. */
  problems(): readonly string[];
}

/** The text of the whole page after each change of it: also what is there for a moment only. */
const RECORD = `
  window.recorded = [];
  const record = () => {
    const text = document.body.innerText.replace(/\\s+/gu, ' ');
    if (window.recorded.at(-1)?.text !== text) window.recorded.push({ atMs: Date.now(), text });
  };
  new MutationObserver(record).observe(document.body, { subtree: true, childList: true, characterData: true });
  record();
`;

/** Records until the browser is closed. */
export async function recordPages(browser: Browser, url: string): Promise<PageRecorder> {
  const opened = PAGES.map(async (name): Promise<readonly [PageName, WatchedPage]> => {
    const tab = await openPage(browser, `${url}#/${name}`, { reducedMotion: 'reduce' });
    await drawn(name, tab);
    await tab.page.evaluate(RECORD);
    return [name, tab];
  });
  const tabs = new Map(await Promise.all(opened));
  return {
    shown: async (name) =>
      (await tabs.get(name)?.page.evaluate<readonly ShownText[]>('window.recorded')) ?? [],
    problems: () => [...tabs.values()].flatMap(({ problems }) => problems),
  };
}

/** A page that is not drawn fails with what it did wrong: it was not loaded, or an error ended it. */
async function drawn(name: PageName, { page, problems }: WatchedPage): Promise<void> {
  try {
    await page.locator(`main > #${name}`).waitFor();
  } catch (cause) {
    throw new Error(`the page ${name} was not drawn: ${problems.join('; ') || 'it reported no problem'}`, {
      cause,
    });
  }
}
