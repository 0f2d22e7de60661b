/** Kills sync and all controllers in the middle of a rollout, which ends as if nothing had happened. */
import type { MachineComponentSet } from '../../../api/generated/types.ts';
import type { DemoProgram } from '../../../cli/local/demo-programs.ts';
import { provenEverywhere, readSet } from '../fleet-state.ts';
import type { Tour, TourStep } from '../step.ts';
import { commitNextVersion, verifyVersion } from './rollout.ts';

export const crashStep: TourStep = {
  name: 'crash',
  title: 'Sync and the controllers are killed in the middle of a rollout',
  explanation: [
    'All that they know is in git and in the API servers. kubenode start starts them again,',
    'and the rollout continues where it was: nothing is skipped, and no second machine is taken at the same time.',
  ],
  async run(tour) {
    const { version, head } = await commitNextVersion(tour);
    await tour.verify({
      what: 'a machine of test is in work',
      withinSeconds: 120,
      lookAt: 'kubenode rollout show general --context test',
      reason: async () => notInWorkReason(await readSet(tour, 'test')),
    });
    const killed = await tour.programs();
    for (const { name, identity } of killed) {
      tour.say(`$ kill -9 ${identity.pid}    # ${name}`);
      await tour.kill(identity);
    }
    await tour.verify({
      what: 'each of them runs again',
      withinSeconds: 60,
      lookAt: 'the terminal of kubenode start',
      reason: async () => notRestartedReason(killed, await tour.programs()),
    });
    await expectEnd(tour, head);
    await verifyVersion(tour, version);
    await tour.show(['rollout', 'show', 'general', '--context', 'test']);
  },
};

async function expectEnd(tour: Tour, head: string): Promise<void> {
  let mostInWork = 0;
  const expected = provenEverywhere(tour, head);
  await tour.verify({
    ...expected,
    reason: async () => {
      const { counts } = (await readSet(tour, 'prod')).status ?? {};
      mostInWork = Math.max(mostInWork, counts?.inProgress ?? 0);
      return await expected.reason();
    },
  });
  await tour.verify({
    what: 'never more than one machine of prod was in work, and none failed',
    withinSeconds: 0,
    lookAt: 'kubenode rollout show general --context prod',
    reason: async () => {
      const failed = (await readSet(tour, 'prod')).status?.failedMachines ?? [];
      return mostInWork === 1 && failed.length === 0
        ? undefined
        : `at most ${mostInWork} in work, ${failed.length} failed`;
    },
  });
}

export function notInWorkReason({ status }: MachineComponentSet): string | undefined {
  return (status?.counts?.inProgress ?? 0) > 0 ? undefined : 'no machine is in work yet';
}

/** By the identity, as a number may be given to another process. */
export function notRestartedReason(
  killed: readonly DemoProgram[],
  now: readonly DemoProgram[],
): string | undefined {
  const missing = killed.filter(({ name, identity }) => {
    const found = now.find((program) => program.name === name);
    return found === undefined || found.identity.startTicks === identity.startTicks;
  });
  return missing.length === 0 ? undefined : `not running: ${missing.map(({ name }) => name).join(', ')}`;
}
