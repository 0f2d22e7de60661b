import { any, disk, history, type NodeRemedierSpec } from 'kubenode/constructs';

const [nodefs, imagefs] = [disk('nodefs'), disk('imagefs')] as const;

/** Deletes images and containers that nothing uses when a file system runs out of inodes, before the kubelet begins to evict Pods. */
export const inodeExhaustion: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/inode-exhaustion.md' },
  faultClass: 'Disk',
  priority: 310,
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 20 },
  rule: {
    conditions: any(imagefs.inodesUsedPercent.atLeast(90), nodefs.inodesUsedPercent.atLeast(90)),
    // What cleaning twice did not free is not garbage.
    gate: history('CleanDisk', { within: '1h' }).count.below(2),
    maxAgeSeconds: { disk: 90 },
    clearSeconds: 900,
  },
  dedup: { group: 'clean-disk', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'clean',
      plan: [
        {
          step: 'CleanDisk',
          // Without stopAtUsedPercent: such a disk has few used bytes. Each image and each container has thousands of inodes.
          with: {
            targets: ['deadContainers', 'unusedImages', 'rotatedLogs', 'coreDumps'],
            minAgeSeconds: { coreDumps: 259_200 },
            keepImages: ['*/pause:*', '@pinned'],
            maxDelete: '40Gi',
          },
          timeoutSeconds: 300,
        },
      ],
      verify: {
        conditions: { all: [imagefs.inodesUsedPercent.below(85), nodefs.inodesUsedPercent.below(85)] },
        holdSeconds: 120,
        timeoutSeconds: 600,
      },
    },
    {
      name: 'person',
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } },
      ],
    },
  ],
  tests: [
    { name: 'images used them up', expect: 'Match', given: { ...used(95, 20), ...cleaned() } },
    { name: 'Pods used them up', expect: 'Match', given: { ...used(20, 90), ...cleaned() } },
    { name: 'enough are left', expect: 'NoMatch', given: { ...used(89, 89), ...cleaned() } },
    { name: 'cleaned twice in this hour', expect: 'Held', given: { ...used(95, 20), ...cleaned(600, 2400) } },
    { name: 'agent silent', expect: 'Indeterminate', given: cleaned() },
    { name: 'history unknown', expect: 'Indeterminate', given: used(95, 20) },
  ],
};

function used(images: number, pods: number): Readonly<Record<string, unknown>> {
  return { disk: { imagefs: { inodesUsedPercent: images }, nodefs: { inodesUsedPercent: pods } } };
}

/** Each time the disk was cleaned, so many seconds ago. */
function cleaned(...ages: readonly number[]): Readonly<Record<string, unknown>> {
  return { history: ages.map((ageSeconds) => ({ action: 'CleanDisk', ageSeconds })) };
}
