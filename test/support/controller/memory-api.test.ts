import type { Client } from '../../../src/kube/client/client.ts';
import { virtualClock } from '../virtual-clock.ts';
import { describeApiContract, watchedEvents } from './api-contract.ts';
import { createMemoryApi } from './memory-api.ts';
import { WIDGET_KIND } from './widgets.ts';

const api = createMemoryApi({ clock: virtualClock(), kinds: [WIDGET_KIND] });
const client: Client = await api.connection().connect();

describeApiContract(
  'in memory',
  () => client,
  (act) => watchedEvents(client, act),
);
