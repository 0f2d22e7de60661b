/** Reads answers with a limit: a server that never ends its answer must not take the memory of this process. */

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

/** Rejects with AnswerTooLarge, and ends the body then. */
export async function readLimited(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const { pieces, isWhole } = await readPieces(body, maxBytes);
  if (isWhole) return Buffer.concat(pieces);
  throw new AnswerTooLarge(maxBytes);
}

/** Returns the begin of a longer body, and ends the body then. */
export async function readBegin(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const { pieces } = await readPieces(body, maxBytes);
  return Buffer.concat(pieces).subarray(0, maxBytes);
}

async function readPieces(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly pieces: readonly Uint8Array[]; readonly isWhole: boolean }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) return { pieces, isWhole: false };
  }
  return { pieces, isWhole: true };
}
