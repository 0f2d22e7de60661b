/**
 * A real kube-apiserver for one test file:
 *
 *     const server = await startApiServer();     // in beforeAll; ready in about four seconds, or at once if one is idle
 *     await server.keep();                       // after CRDs are installed: `wipe` restores this state
 *     await server.wipe();                       // in beforeEach
 *     await server.stop();                       // in afterAll
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { writeFileAtomic } from '../../src/os/files.ts';
import type { Addition } from './control-plane-etcd.ts';
import { takeServer } from './control-plane-pool.ts';
import { type ApiServer, type ApiServerOptions, startServer } from './control-plane-server.ts';

export type { ApiServer, ApiServerOptions } from './control-plane-server.ts';

export async function startApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  const run = inject('controlPlaneRun');
  if (options && Object.keys(options).length > 0) return await startServer(run, options);
  return await takeServer(run, 'empty', () => startServer(run));
}

/** A server that `create` starts, or one that started like that and that another file has finished with. */
export async function takeApiServer(content: string, create: () => Promise<ApiServer>): Promise<ApiServer> {
  return await takeServer(inject('controlPlaneRun'), content, create);
}

/** What a server stored for these objects, kept for the other files of this run. */
export async function storedInstallation(objects: readonly object[]): Promise<{
  /** Names the objects. */
  readonly digest: string;
  readonly addition: Addition | undefined;
  store(addition: Addition): Promise<void>;
}> {
  const digest = createHash('sha256').update(JSON.stringify(objects)).digest('hex').slice(0, 16);
  const file = join(inject('controlPlaneRun').folder, `installation-${digest}.json`);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return {
    digest,
    addition: text === undefined ? undefined : (JSON.parse(text) as Addition),
    store: (addition) => writeFileAtomic(file, JSON.stringify(addition)),
  };
}
