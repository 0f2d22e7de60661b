/** A sandbox host for tests: everything that it started is ended with the test. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sandboxFolders, UNIT_DIRECTORY } from '../../../src/agent/host/sandbox/folders.ts';
import { createSandboxHost, type SandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { sendSignal, unitPids } from '../../../src/agent/host/sandbox/unit-process.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../eventually.ts';
import { tempFolder } from '../temp.ts';
import { tarGz } from './archives.ts';
import type { ContractHost } from './host-contract.ts';

const clock = createSystemClock();

export async function openSandbox(directory = tempFolder('sandbox')): Promise<SandboxHost> {
  const host = createSandboxHost({ directory, clock });
  await host.open();
  return host;
}

/** Ends everything that runs in the sandbox. */
export async function endSandbox(directory: string): Promise<void> {
  const folders = sandboxFolders(directory);
  await eventually(async () => {
    const pids = await unitPids(folders);
    sendSignal(pids, 'SIGKILL');
    return pids.length === 0 || undefined;
  }, 'the processes of the sandbox did not end');
}

export async function sandboxContract(): Promise<ContractHost> {
  const directory = tempFolder('sandbox');
  const published = tempFolder('published');
  let host = await openSandbox(directory);
  return {
    host,
    async restartAgent() {
      await host.close();
      host = await openSandbox(directory);
      return host;
    },
    async crash(unit) {
      sendSignal(await unitPids(sandboxFolders(directory), unit), 'SIGKILL');
    },
    async mask(unit) {
      writeFileSync(join(directory, UNIT_DIRECTORY, `${unit}.masked`), '');
    },
    definitionFile: (unit) => `${UNIT_DIRECTORY}/${unit}.json`,
    async publish(content) {
      mkdirSync(published, { recursive: true });
      const file = join(published, createHash('sha256').update(content).digest('hex'));
      writeFileSync(file, content);
      return pathToFileURL(file).href;
    },
    archive: async (files) => tarGz([...files].map(([path, content]) => ({ path, content }))),
    runs: ['/bin/sleep', '600'],
    programDigest: () => sha256OfFile('/bin/sleep'),
    fails: ['/does/not/exist'],
    succeeds: ['/bin/true'],
    exits: ['/bin/sh', '-c', 'exit 3'],
    async [Symbol.asyncDispose]() {
      await host.close();
      await endSandbox(directory);
    },
  };
}
