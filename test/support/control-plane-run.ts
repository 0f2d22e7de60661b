/**
 * Shared by all API servers of one test run: a folder, one etcd, and a record of every started process.
 * A killed run leaves its records; the next run ends the processes in them. Must not import vitest: benchmarks use it too.
 */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgramLookup } from '../../src/local/binaries/binaries.ts';
import { resolveBinaries } from '../../src/local/binaries/resolve.ts';
import { cacheFolder } from '../../src/local/folders.ts';
import { type EtcdAccess, ensureEtcdPki } from '../../src/local/pki/authority.ts';
import { lifeOf } from '../../src/local/pki/lifetime.ts';
import { createEtcdCommand, type ProgramPath } from '../../src/local/processes/commands.ts';
import { launchProcess } from '../../src/local/processes/launch.ts';
import { writeFileAtomic } from '../../src/os/files.ts';
import { findFreePort } from '../../src/os/net/ports.ts';
import { type Command, stopProcess } from '../../src/os/process/child.ts';
import { isSameProcess, type ProcessIdentity, readProcessIdentity } from '../../src/os/process/identity.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { LAZY_GC } from './lazy-gc.ts';

/** Plain data: vitest sends it from its main process to the workers. */
export interface Run {
  readonly folder: string;
  /** Folder of the process records. */
  readonly notes: string;
  /** etcd, kube-apiserver, kubectl, … under their names. */
  readonly binaries: string;
  readonly etcd: EtcdAccess & { readonly url: string; readonly pkiFolder: string };
}

const START_MS = 60_000;
const clock = createSystemClock();

export async function openRun(): Promise<Run> {
  // Not in the temporary folder, which is new for each run.
  const root = join(cacheFolder(process.env), 'test-runs');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await endStaleRuns(root);
  const notes = await mkdtemp(join(root, 'run-'));
  const folder = await mkdtemp(join(tmpdir(), 'control-plane-'));
  await writeFileAtomic(
    join(notes, OWNER),
    JSON.stringify({ owner: await readProcessIdentity(process.pid), folder }),
  );
  try {
    const programs = ['etcd', 'kube-apiserver', 'kubectl'] as const;
    const { folder: binaries, origin } = await resolveBinaries({
      env: process.env,
      programs,
      clock,
      onStep: (step) => void process.stderr.write(`${step}\n`),
    });
    const etcd = await startEtcd(folder, notes, createProgramLookup({ folder: binaries, origin }));
    return { folder, notes, binaries, etcd };
  } catch (error) {
    await endRun(notes);
    throw error;
  }
}

export async function closeRun({ notes }: Run): Promise<void> {
  await endRun(notes);
}

async function startEtcd(folder: string, notes: string, path: ProgramPath): Promise<Run['etcd']> {
  const pkiFolder = join(folder, 'etcd-pki');
  const access = await ensureEtcdPki(pkiFolder, lifeOf(undefined, clock.now()));
  const port = await findFreePort();
  const url = `https://127.0.0.1:${port}`;
  await mkdir(join(folder, 'etcd'), { mode: 0o700 });
  await launchProcess({
    command: withLazyGc(
      createEtcdCommand(path, { dataFolder: join(folder, 'etcd'), pkiFolder, port, durable: false }),
    ),
    logFile: join(folder, 'etcd.log'),
    endpoint: { url: `${url}/health`, ...access },
    clock,
    timeoutMs: START_MS,
    onStarted: (identity) => note({ notes }, identity),
  });
  return { ...access, url, pkiFolder };
}

/** Also in benches, which start these API servers without the settings of tests. */
export function withLazyGc(command: Command): Command {
  return { ...command, env: { ...command.env, ...LAZY_GC } };
}

const OWNER = 'owner.json';

interface Owner {
  readonly owner: ProcessIdentity;
  readonly folder: string;
}

/** Written before anything waits for the process: from then on, this run or the next one ends it. */
export async function note({ notes }: Pick<Run, 'notes'>, identity: ProcessIdentity): Promise<void> {
  await writeFileAtomic(join(notes, `${identity.pid}.json`), JSON.stringify(identity));
}

export async function forget({ notes }: Pick<Run, 'notes'>, identity: ProcessIdentity): Promise<void> {
  await rm(join(notes, `${identity.pid}.json`), { force: true });
}

async function endStaleRuns(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const notes = join(root, name);
    const of = await readNote<Owner>(join(notes, OWNER));
    // Without a record of its owner it is being created, or nothing was started in it yet.
    if (of && !isSameProcess(of.owner, await readProcessIdentity(of.owner.pid))) await endRun(notes);
  }
}

async function endRun(notes: string): Promise<void> {
  const names = await readdir(notes).catch(() => []);
  const identities = names
    .filter((name) => name !== OWNER)
    .map((name) => readNote<ProcessIdentity>(join(notes, name)));
  for (const identity of await Promise.all(identities)) if (identity) await stopProcess(identity, clock, 0);
  const of = await readNote<Owner>(join(notes, OWNER));
  if (of) await rm(of.folder, { recursive: true, force: true });
  await rm(notes, { recursive: true, force: true });
}

async function readNote<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
