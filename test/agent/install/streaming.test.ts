import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bundleFile } from '../../../scripts/bundle.ts';
import { NODE_FLAGS } from '../../../src/agent/install/own-unit.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import { target } from '../../support/agent/targets.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';

const MIB = 1024 ** 2;
const LIMIT_BYTES = 128 * MIB;
/** More than the limit in each run, so that one that keeps the artifact in memory cannot stay below it. */
const SIZE_BYTES = (LONG ? 1024 : 192) * MIB;
const BLOCK = 512;

let folder: string;
beforeEach(() => {
  folder = tempFolder('streaming');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The same in each run. */
function* contents(): Generator<Buffer> {
  for (let written = 0; written < SIZE_BYTES; written += MIB) {
    const seed = createHash('sha512').update(String(written)).digest();
    yield Buffer.alloc(MIB, seed);
  }
}

function* tar(): Generator<Buffer> {
  const header = Buffer.alloc(BLOCK);
  header.write('proxy', 0);
  header.write('0755', 100);
  header.write(SIZE_BYTES.toString(8), 124);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  yield header;
  yield* contents();
  yield Buffer.alloc(2 * BLOCK);
}

async function writeArtifact(format: 'Raw' | 'TarGz'): Promise<string> {
  const file = join(folder, 'artifact');
  const out = createWriteStream(file);
  if (format === 'Raw') await pipeline(Readable.from(contents()), out);
  else await pipeline(Readable.from(tar()), createGzip({ level: 0 }), out);
  return file;
}

async function serve(file: string): Promise<string> {
  const server = createServer((_, response) => void createReadStream(file).pipe(response));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/artifact`;
}

describe('an artifact that is larger than the memory of the agent', () => {
  it.each(['Raw', 'TarGz'] as const)(
    'AGT-03 is downloaded, verified and unpacked as a stream: %s',
    async (format) => {
      const file = await writeArtifact(format);
      const source = { url: await serve(file), sha256: await sha256OfFile(file) };
      const artifact = { ...source, mirrors: [], format, install: [], sizeBytes: statSync(file).size };
      const { file: program } = await bundleFile(
        'test/support/agent/install-program.ts',
        join(folder, 'program.mjs'),
      );
      const version = target('1.0', { artifact, units: [] });
      const directory = tempFolder('host');
      const args = [...NODE_FLAGS, program, directory, JSON.stringify(version)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(Number(stdout)).toBeGreaterThan(20 * MIB);
      expect(Number(stdout)).toBeLessThan(LIMIT_BYTES);
      expect(statSync(join(directory, version.directory, 'proxy')).size).toBe(SIZE_BYTES);
    },
  );
});
