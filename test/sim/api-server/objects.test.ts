import type { Client } from '../../../src/kube/client/client.ts';
import { describeApiContract, watchedEvents } from '../../support/controller/api-contract.ts';
import { createMemoryApi } from '../../support/controller/memory-api.ts';
import { WIDGET_KIND } from '../../support/controller/widgets.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const api = createMemoryApi({ clock: virtualClock(), kinds: [WIDGET_KIND] });
const client: Client = await api.connection().connect();

describeApiContract(
  'in memory',
  () => client,
  (act) => watchedEvents(client, act),
);
