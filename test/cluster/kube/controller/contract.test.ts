/** The in-memory API server of the tests behaves like this real one: the same suite runs over both. */
import { afterAll, beforeAll } from 'vitest';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { describeApiContract } from '../../../support/controller/api-contract.ts';
import { installWidgets } from '../../../support/controller/install-widgets.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await installWidgets(server.client);
});
afterAll(() => server?.stop());

describeApiContract('real', () => server.client);
