/** Reads the lines of the past from the server, while the page of health shows them. */
import { useEffect, useState } from 'preact/hooks';
import type { HistoryRange, PastAnswer } from '../../state/history/ranges.ts';

/** Undefined: not answered yet. `none`: the server has no Prometheus. `failed`: it did not answer. */
export type Past = PastAnswer | 'none' | 'failed' | undefined;

/** As often as a point of the shortest range comes, and the server asks Prometheus. */
const READ_MS = 10_000;

export function usePast(range: HistoryRange): Past {
  const [past, setPast] = useState<{ readonly range: HistoryRange; readonly found: Past }>();
  useEffect(() => {
    const stop = new AbortController();
    let isPending = false;
    const read = async (): Promise<void> => {
      if (isPending || document.visibilityState === 'hidden') return;
      isPending = true;
      const found = await readPast(range, stop.signal);
      isPending = false;
      if (!stop.signal.aborted) setPast((before) => ({ range, found: newest(before, { range, found }) }));
    };
    const readNow = (): void => void read();
    readNow();
    const timer = setInterval(readNow, READ_MS);
    document.addEventListener('visibilitychange', readNow);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', readNow);
      stop.abort();
    };
  }, [range]);
  return past?.range === range ? past.found : undefined;
}

interface FoundPast {
  readonly range: HistoryRange;
  readonly found: Past;
}

/** The last answer stays while the server does not answer: the header shows that. */
function newest(before: FoundPast | undefined, next: FoundPast): Past {
  const isKept = next.found === 'failed' && before?.range === next.range && before.found !== undefined;
  return isKept ? before.found : next.found;
}

async function readPast(range: HistoryRange, signal: AbortSignal): Promise<Past> {
  try {
    const response = await fetch(`/history/${range}`, { signal });
    if (!response.ok) return 'failed';
    return ((await response.json()) as PastAnswer | null) ?? 'none';
  } catch {
    return 'failed';
  }
}
