/** Sends the state to the open pages: each gets the whole state once, then what changed, at most twice a second. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../os/clock.ts';
import type { MachineAnswer, MachineDetailView, MachineEventsView } from '../../views/machine/detail.ts';
import type { HistoryRange, PastAnswer } from '../state/history/ranges.ts';
import { diffStates } from '../state/patch.ts';
import { type ConsoleState, NO_STATE } from '../state/state.ts';
import { SECURITY_HEADERS } from './guard.ts';

/** Holds what is read only while a page shows it. What is absent is not served. */
export interface ReadOnDemand {
  /** Returns what only the detail of a machine shows. Undefined: the machine is not known. */
  machine?(cluster: string, name: string): MachineDetailView | undefined;
  /** Reads the last Events of a machine. Undefined: the machine is not known. Never rejects. */
  events?(cluster: string, name: string): Promise<MachineEventsView> | undefined;
  /** Explains a machine in the words of `kubenode why machine`. Undefined: the machine is not known. Never rejects. */
  why?(cluster: string, name: string): Promise<MachineAnswer> | undefined;
  /** Reads the lines of the past from Prometheus. Never rejects. */
  past?(range: HistoryRange): Promise<PastAnswer>;
}

export interface ConsoleSource extends ReadOnDemand {
  current(): ConsoleState;
  /** Registers a handler that is called at each change. */
  subscribe(handler: () => void): void;
}

export interface EventStreams {
  /** Adds a page. Returns false if too many pages are open. */
  add(response: ServerResponse, address: string): boolean;
  readonly size: number;
  /** Resolves after the signal, when every stream was ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface StreamsOptions {
  readonly source: ConsoleSource;
  readonly clock: Clock;
  readonly maxStreams?: number;
  readonly maxStreamsPerAddress?: number;
  /** The number of bytes that a page may leave unread before it is disconnected. */
  readonly maxUnreadBytes?: number;
}

/** The interval of updates. Two pictures a second are live for a person, and each costs the browser a layout of the page. */
const UPDATE_MS = 500;
/** The interval of heartbeats: shorter than the idle time after which common proxies close a connection, 30 to 60 s. */
const HEARTBEAT_MS = 15_000;
/**
 * The limit of open streams. Each tab of a person is one. A browser opens at most six connections to one address, so this is several
 * people.
 */
const MAX_STREAMS = 32;
/** The limit of open streams of one client, which leaves half of them to the others. */
const MAX_STREAMS_PER_ADDRESS = 16;
/** The default limit of unread bytes: five times the state of 10,000 machines. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

export function createEventStreams(options: StreamsOptions): EventStreams {
  const { source, clock, maxStreams = MAX_STREAMS, maxUnreadBytes = MAX_UNREAD_BYTES } = options;
  const { maxStreamsPerAddress = MAX_STREAMS_PER_ADDRESS } = options;
  /** The open pages, with the addresses of their clients. */
  const open = new Map<ServerResponse, string>();
  /** The state that the open pages show. */
  let shown = NO_STATE;
  const stateText = createStateText();
  let change = Promise.withResolvers<void>();
  source.subscribe(() => change.resolve());

  return {
    add(response, address) {
      const own = [...open.values()].filter((each) => each === address).length;
      if (open.size >= maxStreams || own >= maxStreamsPerAddress) return false;
      if (open.size === 0) shown = source.current();
      open.set(response, address);
      response.once('close', () => open.delete(response));
      // An error of one page must not end the process: the page is closed then.
      response.on('error', () => response.destroy());
      response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' });
      write(response, `retry: 2000\n${stateText(shown)}`);
      return true;
    },
    get size() {
      return open.size;
    },
    async run(signal) {
      await Promise.all([sendChanges(signal), sendHeartbeats(signal)]);
      for (const response of open.keys()) response.end();
    },
  };

  async function sendChanges(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      await Promise.race([change.promise, aborted]);
      if (signal.aborted) return;
      change = Promise.withResolvers<void>();
      sendChange();
      await clock.sleep(UPDATE_MS, signal).catch(() => undefined);
    }
  }

  /** Sends the last changes to the open pages. Without a page, nothing is computed. */
  function sendChange(): void {
    if (open.size === 0) return;
    const next = source.current();
    const patch = diffStates(shown, next);
    shown = next;
    if (patch) writeAll(eventText('patch', patch));
  }

  async function sendHeartbeats(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, signal).catch(() => undefined);
      // An event and not a comment: the page notices that the connection is lost when none comes.
      if (!signal.aborted) writeAll('event: heartbeat\ndata: {}\n\n');
    }
  }

  function writeAll(text: string): void {
    for (const response of open.keys()) write(response, text);
  }

  /** Writes to a page. A page that does not read is disconnected: it connects again and gets the whole state. */
  function write(response: ServerResponse, text: string): void {
    // One that was ended, and whose end the client does not read, is not closed yet.
    if (response.writableEnded) {
      open.delete(response);
      return;
    }
    response.write(text);
    if (response.writableLength > maxUnreadBytes) {
      open.delete(response);
      response.destroy();
    }
  }
}

/** Returns a function that formats the whole state. Pages that open while nothing changes get the same text. */
function createStateText(): (state: ConsoleState) => string {
  let last: { readonly state: ConsoleState; readonly text: string } | undefined;
  return (state) => {
    if (last?.state !== state) last = { state, text: eventText('state', state) };
    return last.text;
  };
}

function eventText(event: 'state' | 'patch', data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
