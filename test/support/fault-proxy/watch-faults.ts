/** Faults in the middle of a watch. Each lets a number of whole events pass first. */
import type { Fault, Passage } from './passage.ts';
import { statusObject } from './status.ts';

const NEWLINE = 0x0a;

/** The watch stays open and says nothing more. */
export function freezeWatch(afterEvents = 0): Fault {
  return endingWatch('freeze', afterEvents, (passage) => passage.gone);
}

/** It ends as after its timeoutSeconds. */
export function closeWatch(afterEvents = 0): Fault {
  return endingWatch('close', afterEvents, (passage) => passage.end());
}

/** An ERROR event and the end: 410 is what a client hears that fell too far behind. */
export function watchError(status = 410, afterEvents = 0): Fault {
  const event = { type: 'ERROR', object: statusObject(status) };
  return endingWatch(`error ${status}`, afterEvents, async (passage) => {
    await passage.write(Buffer.from(`${JSON.stringify(event)}\n`));
    passage.end();
  });
}

function endingWatch(name: string, afterEvents: number, then: (passage: Passage) => unknown): Fault {
  return {
    name: `watch ${name} after ${afterEvents}`,
    async act(passage) {
      await passEvents(passage, afterEvents);
      await then(passage);
    },
  };
}

/** The connection is reset in the middle of the next event. */
export function tearWatch(afterEvents = 0): Fault {
  return {
    name: `watch tear after ${afterEvents}`,
    async act(passage) {
      const { body, rest } = await passEvents(passage, afterEvents);
      const next = rest.length > 0 ? rest : await firstPiece(body);
      await passage.write(next.subarray(0, Math.ceil(next.length / 2)));
      passage.cut('reset');
    },
  };
}

interface Passed {
  readonly body: AsyncIterator<Buffer>;
  /** What came in one piece with the last of them. */
  readonly rest: Buffer;
}

async function passEvents(passage: Passage, count: number): Promise<Passed> {
  const body = (await passage.open()).iterator() as AsyncIterator<Buffer>;
  passage.begin();
  let rest: Buffer = Buffer.alloc(0);
  for (let left = count; left > 0; ) {
    const piece = await firstPiece(body);
    const end = endOfLine(piece, left);
    left -= linesIn(piece.subarray(0, end));
    rest = piece.subarray(end);
    await passage.write(piece.subarray(0, end));
  }
  return { body, rest };
}

async function firstPiece(body: AsyncIterator<Buffer>): Promise<Buffer> {
  const next = await body.next();
  if (next.done) throw new Error('the watch ended before its fault was due');
  return next.value;
}

/** Behind the nth line end, or the length when there are fewer. */
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
