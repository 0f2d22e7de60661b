/**
 * A real kube-apiserver for one test file:
 *
 *     const server = await startApiServer();     // in beforeAll; ready in about four seconds
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
import { type ApiServer, type ApiServerOptions, startServer } from './control-plane-server.ts';

export type { ApiServer, ApiServerOptions } from './control-plane-server.ts';

export async function startApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  return await startServer(inject('controlPlaneRun'), options);
}

/** What a server stored for these objects, kept for the other files of this run. */
export async function storedInstallation(objects: readonly object[]): Promise<{
  readonly addition: Addition | undefined;
  store(addition: Addition): Promise<void>;
}> {
  const digest = createHash('sha256').update(JSON.stringify(objects)).digest('hex');
  const file = join(inject('controlPlaneRun').folder, `installation-${digest.slice(0, 16)}.json`);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return {
    addition: text === undefined ? undefined : (JSON.parse(text) as Addition),
    store: (addition) => writeFileAtomic(file, JSON.stringify(addition)),
  };
}
