/** Reads what only an open machine shows: when it opens, after it changed, and when a person asks again. */
import { useEffect, useRef, useState } from 'preact/hooks';

export interface OnDemand<T> {
  /** The newest answer. Undefined: not answered yet. */
  readonly answer: T | undefined;
  /** Why the last request has no answer. */
  readonly failure: string | undefined;
  readonly isReading: boolean;
  readonly readAgain: () => void;
}

/** A machine that is updated changes several times a second, and some answers read its whole cluster. */
const MIN_PAUSE_MS = 10_000;

/** `version`: another text after each change of the machine. */
export function useOnDemand<T>(path: 'events-of' | 'why', machine: string, version: string): OnDemand<T> {
  const [answer, setAnswer] = useState<T>();
  const [failure, setFailure] = useState<string>();
  const [isReading, setReading] = useState(true);
  const reader = useRef<Reader>(undefined);
  useEffect(() => {
    const created = createReader(async (signal) => {
      setReading(true);
      const found = await readJson<T>(`/${path}/${keyPath(machine)}`, signal);
      if (signal.aborted) return true;
      setReading(false);
      setFailure(failureOf(found));
      if (found === undefined || found === null) return false;
      setAnswer(found);
      return true;
    });
    reader.current = created;
    return created.end;
  }, [path, machine]);
  useEffect(() => reader.current?.request(), [path, machine, version]);
  return { answer, failure, isReading, readAgain: () => reader.current?.request(0) };
}

/** Null: the server answers that it does not know the machine. */
function failureOf(found: unknown): string | undefined {
  if (found === undefined) return 'the console does not answer';
  return found === null ? 'the console does not know this machine at the moment' : undefined;
}

interface Reader {
  /** Reads after the pause since the last time. A request while another one is sent is read after it. */
  readonly request: (pauseMs?: number) => void;
  readonly end: () => void;
}

/** `read` resolves to whether there is an answer: without one it is asked again after the pause. */
function createReader(read: (signal: AbortSignal) => Promise<boolean>): Reader {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastMs: number | undefined;
  let isReading = false;
  let isRequested = false;
  return {
    request,
    end() {
      clearTimeout(timer);
      stop.abort();
    },
  };

  function request(pauseMs = MIN_PAUSE_MS): void {
    if (isReading) {
      isRequested = true;
      return;
    }
    clearTimeout(timer);
    const untilMs = lastMs === undefined ? 0 : lastMs + pauseMs - performance.now();
    timer = setTimeout(() => void begin(), Math.max(0, untilMs));
  }

  async function begin(): Promise<void> {
    isReading = true;
    lastMs = performance.now();
    const isAnswered = await read(stop.signal);
    isReading = false;
    if (stop.signal.aborted || (isAnswered && !isRequested)) return;
    isRequested = false;
    request();
  }
}

/** Returns the key of a machine as a path. */
export function keyPath(machine: string): string {
  return machine.split('/').map(encodeURIComponent).join('/');
}

/** Undefined: the server does not answer. The header shows that, and the last answer stays. */
async function readJson<T>(path: string, signal: AbortSignal): Promise<T | null | undefined> {
  try {
    const response = await fetch(path, { signal });
    if (!response.ok) return undefined;
    return (await response.json()) as T | null;
  } catch {
    return undefined;
  }
}
