/** Faults in the middle of a watch. Each forwards a number of whole events first. */
import type { Readable } from 'node:stream';
import type { Fault, ProxiedRequest } from './proxied-request.ts';
import { statusObject } from './status.ts';

const NEWLINE = 0x0a;
const OK = 200;

/** The watch stays open and sends nothing more. */
export function freezeWatch(afterEvents = 0): Fault {
  return endingWatch('freeze', afterEvents, (proxied) => proxied.disconnected);
}

/** The watch ends, as after its timeoutSeconds. */
export function closeWatch(afterEvents = 0): Fault {
  return endingWatch('close', afterEvents, (proxied) => proxied.end());
}

/** An ERROR event and the end: a client that fell too far behind receives 410. */
export function watchError(status = 410, afterEvents = 0): Fault {
  return endingWatch(`error ${status}`, afterEvents, async (proxied) => {
    await proxied.write(errorEvent(status));
    proxied.end();
  });
}

function errorEvent(status: number): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object: statusObject(status) })}\n`);
}

/** Watches of one client that the test ends: the one that is open, else the next one. */
export interface OpenWatches {
  readonly fault: Fault;
  /** As after their timeoutSeconds, or with an ERROR event. While no watch is open, the last call counts. */
  end(status?: number): void;
}

export function openWatches(): OpenWatches {
  let ending = Promise.withResolvers<true>();
  let status: number | undefined;
  return {
    fault: {
      name: 'watch until it is ended',
      async act(proxied) {
        const body = await proxied.open();
        proxied.begin();
        const forwarded = forwardAll(body, proxied);
        // A watch that the server refuses was never open: the next one is ended.
        const isEnded = await (proxied.serverStatus === OK
          ? Promise.race([ending.promise, forwarded])
          : forwarded);
        if (isEnded) ending = Promise.withResolvers();
        if (isEnded && status !== undefined) await proxied.write(errorEvent(status));
        proxied.end();
        body.destroy();
      },
    },
    end: (next) => {
      status = next;
      ending.resolve(true);
    },
  };
}

/** Whole events: what is written after them begins a line, also where the server's answer arrives in pieces. */
async function forwardAll(body: Readable, proxied: ProxiedRequest): Promise<undefined> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of body) {
      const received = Buffer.concat([rest, piece as Buffer]);
      const end = received.lastIndexOf(NEWLINE) + 1;
      rest = received.subarray(end);
      await proxied.write(received.subarray(0, end));
    }
    await proxied.write(rest);
  } catch {
    // The client disconnected, or the watch was ended.
  }
}

function endingWatch(name: string, afterEvents: number, then: (proxied: ProxiedRequest) => unknown): Fault {
  return {
    name: `watch ${name} after ${afterEvents}`,
    async act(proxied) {
      await passEvents(proxied, afterEvents);
      await then(proxied);
    },
  };
}

/** The connection is reset in the middle of the next event. */
export function tearWatch(afterEvents = 0): Fault {
  return {
    name: `watch tear after ${afterEvents}`,
    async act(proxied) {
      const { body, rest } = await passEvents(proxied, afterEvents);
      const next = rest.length > 0 ? rest : await firstPiece(body);
      await proxied.write(next.subarray(0, Math.ceil(next.length / 2)));
      proxied.cut('reset');
    },
  };
}

interface Passed {
  readonly body: AsyncIterator<Buffer>;
  /** The bytes that arrived in one chunk with the last of them. */
  readonly rest: Buffer;
}

async function passEvents(proxied: ProxiedRequest, count: number): Promise<Passed> {
  const body = (await proxied.open()).iterator() as AsyncIterator<Buffer>;
  proxied.begin();
  let rest: Buffer = Buffer.alloc(0);
  for (let left = count; left > 0; ) {
    const piece = await firstPiece(body);
    const end = endOfLine(piece, left);
    left -= linesIn(piece.subarray(0, end));
    rest = piece.subarray(end);
    await proxied.write(piece.subarray(0, end));
  }
  return { body, rest };
}

async function firstPiece(body: AsyncIterator<Buffer>): Promise<Buffer> {
  const next = await body.next();
  if (next.done) throw new Error('the watch ended before its fault was due');
  return next.value;
}

/** The index after the nth line end, or the length if there are fewer. */
function endOfLine(piece: Buffer, nth: number): number {
  let end = 0;
  for (let line = 0; line < nth; line += 1) {
    const next = piece.indexOf(NEWLINE, end);
    if (next === -1) return piece.length;
    end = next + 1;
  }
  return end;
}

function linesIn(piece: Buffer): number {
  return piece.filter((byte) => byte === NEWLINE).length;
}
