import { Transform } from 'node:stream';

const NEWLINE = 0x0a;

/** Line by line, so that no text across two chunks is missed. Both texts have the same length: Content-Length stays correct. */
export function swapText(from: string, to: string): Transform {
  if (from.length !== to.length) throw new Error(`${from} and ${to} differ in length`);
  const swapped = (piece: Buffer): string => piece.toString('utf8').replaceAll(from, to);
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const all = Buffer.concat([rest, piece]);
      const end = all.lastIndexOf(NEWLINE) + 1;
      rest = all.subarray(end);
      done(null, swapped(all.subarray(0, end)));
    },
    flush(done) {
      done(null, swapped(rest));
    },
  });
}
