/** Copies the files of an etcd, without the space that it only reserves. */
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_MODE, toDiskError } from '../../../../os/files.ts';

const CHUNK = 1024 ** 2;

export async function copyFiles(
  from: string,
  to: string,
  isIncluded: (name: string) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of (await readdir(from)).filter(isIncluded)) {
    signal?.throwIfAborted();
    await copySparse(join(from, name), join(to, name)).catch((error: unknown) => {
      throw toDiskError(error, join(to, name));
    });
  }
}

/** Leaves out what is zero: etcd reserves 64 MB for each file of its log. */
async function copySparse(from: string, to: string): Promise<void> {
  const source = await open(from);
  const target = await open(to, 'w', PRIVATE_MODE);
  try {
    const buffer = Buffer.alloc(CHUNK);
    let at = 0;
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, CHUNK, at);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      if (piece.some((byte) => byte !== 0)) await target.write(piece, 0, bytesRead, at);
      at += bytesRead;
    }
    await target.truncate(at);
    await target.sync();
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}
