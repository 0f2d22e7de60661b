/** The API server in memory behaves like this real one, also in simulations: the same suite runs over all. */
import { afterAll, beforeAll } from 'vitest';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { describeApiContract, watchedEvents } from '../../../support/controller/api-contract.ts';
import { installWidgets } from '../../../support/controller/install-widgets.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await installWidgets(server.client);
});
afterAll(() => server?.stop());

describeApiContract(
  'real',
  () => server.client,
  (act) => watchedEvents(server.client, act),
);
