/**
 * API servers that a test file has finished with, kept for the next file of the run: to start one, and to install kubenode in it,
 * takes seconds of CPU. The next file finds it as it was when the first one got it. Until then its process is stopped: an idle
 * API server takes two percent of a core.
 */
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../../src/os/files.ts';
import { signalProcess } from '../../src/os/process/child.ts';
import { restore, type Snapshot, snapshot } from './control-plane-etcd.ts';
import type { Run } from './control-plane-run.ts';
import { type ApiServer, adoptServer, type ServerAddress } from './control-plane-server.ts';
import { meterSharedServer } from './cost/meter.ts';
import { keepForRun } from './leak-guard/kept.ts';

/** Each takes 500 to 900 MiB. */
const MAX_IDLE = 9;
const SUFFIX = '.json';

/** A server holds what it made of these in memory, and forgets it some time after they are restored. */
const DEFINITION =
  /^\/[^/]+\/(?:apiextensions\.k8s\.io|apiregistration\.k8s\.io|\w+webhookconfigurations|\w+admissionpolic\w+|flowschemas|prioritylevelconfigurations)\//;

/** `content` names what `create` starts the server with. Its `stop` makes it idle, or ends it if it is not what it was. */
export async function takeServer(
  run: Run,
  content: string,
  create: () => Promise<ApiServer>,
): Promise<ApiServer> {
  const folder = join(run.folder, 'idle');
  const claimed = await claim(run, folder, `${content}.`);
  const server = claimed ?? (await create());
  const address = server.address();
  if (!address) throw new Error(`the API server of ${content} does not run`);
  const meter = meterSharedServer(address.identity.pid, {
    isUsedBefore: claimed !== undefined,
    folder: run.folder,
  });
  const prefix = `/${basename(address.folder)}`;
  const initial = await snapshot(run.etcd, prefix);
  return {
    ...server,
    async stop() {
      if (!(await isReusable())) {
        meter.ending();
        return await server.stop();
      }
      await server.client.close();
      await restore(run.etcd, prefix, initial);
      keepForRun(address.identity.pid);
      meter.givenBack();
      await signalProcess(address.identity, 'SIGSTOP');
      const record = join(folder, `${content}.${basename(address.folder)}${SUFFIX}`);
      return await writeFileAtomic(record, JSON.stringify(address));
    },
  };

  async function isReusable(): Promise<boolean> {
    // A test that killed it may have started it again, as another process.
    if (server.address()?.identity.pid !== address?.identity.pid) return false;
    if ((await namesIn(folder)).length >= MAX_IDLE) return false;
    return definitionsOf(await snapshot(run.etcd, prefix)) === definitionsOf(initial);
  }
}

/** To rename its record is to own the server: of several files, one succeeds. */
async function claim(run: Run, folder: string, start: string): Promise<ApiServer | undefined> {
  const names = (await namesIn(folder)).filter((name) => name.startsWith(start));
  for (const name of names) {
    const taken = join(run.folder, `taken-${name}`);
    try {
      await rename(join(folder, name), taken);
    } catch {
      continue; // another file was faster
    }
    const address = JSON.parse(await readFile(taken, 'utf8')) as ServerAddress;
    await rm(taken);
    if (await signalProcess(address.identity, 'SIGCONT')) return await adoptServer(run, address);
  }
  return undefined;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(SUFFIX));
}

function definitionsOf(rows: Snapshot): string {
  const found = [...rows].map(
    ([key, { revision }]) => `${Buffer.from(key, 'base64').toString()} ${revision}`,
  );
  return found
    .filter((line) => DEFINITION.test(line))
    .toSorted()
    .join('\n');
}
