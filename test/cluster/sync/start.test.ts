/** A sync that cannot start ends: nothing that it began keeps the process running. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ListOptions, ListPage } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { startHealthServer } from '../../../src/kube/process/health.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startSync } from '../../../src/sync/sync.ts';
import { createTestRenderer } from '../../support/fleet-repository.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const clock = createSystemClock();

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

describe('a sync that cannot start', () => {
  it('ends its watches and its connection when it is stopped while it reads the hub', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped by SIGINT');
    const client = await connect({ kubeconfig: installed.server.kubeconfig });
    let isClosed = false;
    let reads: readonly AbortSignal[] = [];
    const connection = {
      ...client,
      pages<T = KubeObject>(resource: Resource, options?: ListOptions): AsyncIterable<ListPage<T>> {
        if (options?.signal) reads = [...reads, options.signal];
        stop.abort(reason);
        return client.pages<T>(resource, options);
      },
      close: () => {
        isClosed = true;
        return client.close();
      },
    };
    const options = {
      connectHub: async () => connection,
      identity: 'one',
      renderer: createTestRenderer(),
      gitFolder: tempFolder('git'),
      clock,
      log: memoryLog(),
      random: () => 0.5,
    };
    await expect(startSync(options, stop.signal)).rejects.toBe(reason);
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.every(({ aborted }) => aborted)).toBe(true);
    expect(isClosed).toBe(true);
  });

  it('exits with the reason when its port is taken, and keeps private what it caches', async () => {
    const cache = tempFolder('cache');
    const other = await startHealthServer({ port: 0, clock, log: memoryLog() });
    onTestFinished(() => other.close());
    const { kubeconfig } = installed.server;
    const flags = ['--kubeconfig', kubeconfig, '--cache', cache, '--port', String(other.port)];
    const run = promisify(execFile)(process.execPath, ['src/cli/main.ts', 'sync', ...flags], {
      timeout: 600_000,
      killSignal: 'SIGKILL',
    });
    await expect(run).rejects.toMatchObject({
      killed: false,
      code: 69,
      stderr: expect.stringContaining(String(other.port)) as string,
    });
    const modes = ['git', 'renders', 'compiled'].map((name) => statSync(join(cache, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });
});
