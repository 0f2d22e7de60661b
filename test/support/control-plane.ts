/**
 * A real kube-apiserver for one test file:
 *
 *     const server = await startApiServer();     // in beforeAll; ready in about four seconds
 *     await server.keep();                       // after CRDs are installed: `wipe` restores this state
 *     await server.wipe();                       // in beforeEach
 *     await server.stop();                       // in afterAll
 */
import { inject } from 'vitest';
import { type ApiServer, type ApiServerOptions, startServer } from './control-plane-server.ts';

export type { ApiServer, ApiServerOptions } from './control-plane-server.ts';

export async function startApiServer(options?: ApiServerOptions): Promise<ApiServer> {
  return await startServer(inject('controlPlaneRun'), options);
}
