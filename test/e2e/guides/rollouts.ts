/** docs/guides/rollouts.md on the fleet of the demo: a version is rolled out, paused, and taken back. */
import { type Guide, proven } from './guide.ts';

const CURRENT =
  "kubectl --context test get machinecomponentset general -o jsonpath='{.spec.components[*].componentRef}'";

export const rollouts: Guide = {
  path: 'docs/guides/rollouts.md',
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
    { at: 'why rollout general', prints: /Settled/ },
  ],
};
