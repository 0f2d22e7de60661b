/** Requests to publishers: by a mirror if there is one, within a time limit, and with a limit on the size of the answer. */
import type { Clock } from '../../../../os/clock.ts';
import { withDeadline } from '../../../../os/deadline.ts';
import { fetchText, HttpFailure } from '../../../../os/net/http.ts';
import { mirroredUrl, type SiteEnvironment } from './sites.ts';

export interface FetchSettings {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly env: SiteEnvironment;
  /** The connection counts as broken after this long without a byte. */
  readonly silenceMs?: number;
  readonly deadlineMs?: number;
}

/** 100 MB take so long at 160 KB/s. */
const DEADLINE_MS = 10 * 60_000;

/** Rejects with an HttpFailure when the work takes too long. */
export function withinTime<T>(
  settings: FetchSettings,
  work: (limited: FetchSettings) => Promise<T>,
): Promise<T> {
  const { clock, signal, deadlineMs = DEADLINE_MS } = settings;
  const expired = (): Error =>
    new HttpFailure(`not complete after ${Math.round(deadlineMs / 1000)} s`, false);
  return withDeadline({ clock, signal, ms: deadlineMs, expired }, (ended) =>
    work({ ...settings, signal: ended }),
  );
}

/** Reads a text of at most `maxBytes`. */
export async function readText(url: string, maxBytes: number, settings: FetchSettings): Promise<string> {
  return await withinTime(settings, ({ env, ...options }) =>
    fetchText(mirroredUrl(url, env), { ...options, maxBytes }),
  );
}

export function fileNameOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');
}
