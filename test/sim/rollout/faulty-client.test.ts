import { changeTypeOf } from '../../../src/sim/api-server/objects.ts';
import { createSimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createRandom } from '../../../src/sim/random.ts';
import { createFaultyClient } from '../../../src/sim/rollout/faulty-client.ts';
import { describeApiContract } from '../../support/controller/api-contract.ts';
import { WIDGET_KIND, WIDGETS } from '../../support/controller/widgets.ts';
import { NOW } from '../../support/virtual-clock.ts';

const nowMs = (): number => NOW.getTime();
const api = createSimulatedApi({ nowMs, kinds: [WIDGET_KIND] });
const client = createFaultyClient({
  api,
  nowMs,
  random: createRandom(1),
  isCalm: () => true,
  interfere: () => {},
  calls: { add: () => {} } as never,
});

describeApiContract(
  'simulated',
  () => client,
  async (act) => {
    const before = api.journal.get(WIDGETS.kind)?.length ?? 0;
    await act();
    const changes = api.journal.get(WIDGETS.kind)?.slice(before) ?? [];
    return changes.map((change) => `${changeTypeOf(change)} ${change.object.metadata.name}`);
  },
);
