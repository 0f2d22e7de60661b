/** docs/guides/rollouts.md on the fleet of the demo: a version is rolled out, paused, and taken back. */
import { type Guide, proven } from './guide.ts';

const CURRENT =
  "kubectl --context test get machinecomponentset general -o jsonpath='{.spec.components[*].componentRef}'";

/** As npm start does, with what it prints in a file: this terminal is the second one of the reader. */
const START = 'npx kubenode start --demo ../kubenode-demo > ../start.log 2>&1 &';

export const rollouts: Guide = {
  path: 'docs/guides/rollouts.md',
  async before(reader) {
    await reader.run('npx kubenode local down --wipe');
    await reader.run(START);
    await reader.shows('cat ../start.log', /converged: 10 machines Ready at/);
  },
  expectations: [
    // A plan with changes.
    { at: 'kubenode plan', exits: 2, prints: /rollout of general: 2 of 2 machines/ },
    { at: 'rollout watch general', before: (reader) => reader.shows(CURRENT, /web-1\.1\.0/) },
    { at: 'component list', prints: / 1\.1\.0 +2 +2 +0 +InUse/ },
    { at: 'rollout pause general', after: proven('../kubenode-demo') },
    { at: 'machine show', prints: /new disks/ },
    { at: 'rollout undo general', prints: /git revert/ },
    {
      at: 'revert --no-edit HEAD',
      after: (reader) => reader.shows(`! ${CURRENT} | grep web-1.1.0`, /^(?!.*web-1\.1\.0)/),
    },
    { at: 'rollout resume general', after: proven('../kubenode-demo') },
    {
      at: 'why rollout general',
      prints: /Settled/,
      after: async (reader) => void (await reader.run('kill $(jobs -p); wait')),
    },
  ],
};
