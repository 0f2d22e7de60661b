/** Chromium of Debian, for tests of pages. It downloads nothing, and what a page does wrong is collected. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { childrenOf } from './processes.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Why tests in a browser are skipped; undefined: they run. */
export const noBrowserReason = existsSync(CHROMIUM)
  ? undefined
  : `${CHROMIUM} does not exist: apt-get install chromium`;

export async function launchBrowser(): Promise<Browser> {
  // Containers have no user namespaces for the sandbox, and root may not use it.
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  for (const pid of childrenOf(process.pid)) shareAsUs(pid);
  return browser;
}

/**
 * Linux may share cores between sessions, and each browser is one. All its pages together would get as much as one API server of a fleet: a
 * page was not drawn in nine minutes. Where it does, `.ci/run` raises the share of its own session, and browsers get the same.
 */
function shareAsUs(pid: number): void {
  try {
    const nice = /nice (?<nice>-\d+)/.exec(readFileSync('/proc/self/autogroup', 'utf8'))?.groups?.['nice'];
    if (nice !== undefined) writeFileSync(`/proc/${pid}/autogroup`, nice);
  } catch {
    // Sessions have no shares here, it has ended, or we may not.
  }
}

/**
 * As the limits of vitest.config.ts: it ends what hangs, and measures nothing. The default of 30 s does measure a busy machine, and 240 s were
 * not enough for six pages at once on a slow one in CI.
 */
const HANGS_MS = 540_000;

export interface WatchedPage {
  readonly page: Page;
  /** Errors in the console of the browser, and requests to other servers. */
  readonly problems: readonly string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  page.setDefaultTimeout(HANGS_MS);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (target.protocol !== 'data:' && target.origin !== new URL(url).origin) problems.push(request.url());
  });
  await page.goto(url);
  return { page, problems };
}
