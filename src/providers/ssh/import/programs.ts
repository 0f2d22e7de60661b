/** Reads the list of the programs of the agent that `npm run build:agent` writes: one for each architecture, compressed by gzip. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isRecord, listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import { messageOf } from '../../../os/errors.ts';
import { ImportError } from './errors.ts';

export interface AgentProgram {
  readonly version: string;
  /** As `uname -m` prints it. */
  readonly arch: HostArch;
  /** The sha256 of the program, not of its compressed form. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The file with the compressed program, on this machine. */
  readonly compressedFile: string;
}

export type HostArch = 'x86_64' | 'aarch64';

const ARCHES: Readonly<Record<string, HostArch>> = { amd64: 'x86_64', arm64: 'aarch64' };
const SHA256 = /^[0-9a-f]{64}$/;
export const PROGRAM_LIST = 'programs.json';

/** The list is read at each import: a new build is used without a restart. */
export async function readPrograms(folder: string): Promise<readonly AgentProgram[]> {
  const file = join(folder, PROGRAM_LIST);
  const list = await readList(file);
  const version = textAt(list, 'version');
  if (version === undefined) throw badList(file, 'version is missing');
  return listAt(list, 'programs').flatMap((entry) => {
    const arch = ARCHES[textAt(entry, 'arch') ?? ''];
    return arch === undefined ? [] : [programOf(entry, { version, arch, folder, file })];
  });
}

interface ListContext extends Pick<AgentProgram, 'version' | 'arch'> {
  readonly folder: string;
  readonly file: string;
}

function programOf(entry: unknown, { version, arch, folder, file }: ListContext): AgentProgram {
  const sha256 = textAt(entry, 'sha256') ?? '';
  const sizeBytes = valueAt(entry, 'sizeBytes');
  const compressed = textAt(entry, 'compressedFile');
  if (!SHA256.test(sha256) || typeof sizeBytes !== 'number' || compressed === undefined) {
    throw badList(file, `the entry of ${arch} is not complete`);
  }
  return { version, arch, sha256, sizeBytes, compressedFile: join(folder, basename(compressed)) };
}

async function readList(file: string): Promise<unknown> {
  try {
    const list: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (isRecord(list)) return list;
  } catch (error) {
    throw badList(file, messageOf(error), error);
  }
  throw badList(file, 'expected an object');
}

function badList(where: string, reason: string, cause?: unknown): ImportError {
  return new ImportError(
    'ProgramMissing',
    `the list of the programs of the agent cannot be used: ${reason}`,
    {
      where,
      cause,
    },
  );
}

/** Streams the compressed program. A few parts of it are in memory at a time. */
export async function* streamProgram({ compressedFile }: AgentProgram): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of createReadStream(compressedFile)) yield part as Uint8Array;
  } catch (error) {
    throw new ImportError('ProgramMissing', `the program cannot be read: ${messageOf(error)}`, {
      where: compressedFile,
      cause: error,
    });
  }
}
