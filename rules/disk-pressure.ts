import { all, any, condition, disk, history, type NodeRemedierSpec } from 'kubenode/constructs';

const imagefs = disk('imagefs');

/** Cleans a disk in place: when the kubelet reports pressure, and before it begins to evict Pods at 85 %. */
export const diskPressure: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/disk-pressure.md' },
  faultClass: 'Disk',
  priority: 300,
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 20 },
  rule: {
    conditions: any(
      condition('DiskPressure').is('True', { for: '60s' }),
      all(imagefs.usedPercent.atLeast(80), imagefs.risingSeconds.atLeast(300)),
    ),
    // What cleaning twice did not free is not garbage.
    gate: history('CleanDisk', { within: '1h' }).count.below(2),
    maxAgeSeconds: { disk: 90 },
    clearSeconds: 900,
    // A disk that fills up again each time is for a person.
    flap: { windowSeconds: 21_600, maxTransitions: 6 },
  },
  dedup: { group: 'clean-disk', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'clean',
      maxAttempts: 2,
      retrySeconds: 1200,
      plan: [
        {
          step: 'CleanDisk',
          with: {
            targets: ['unusedImages', 'deadContainers', 'rotatedLogs', 'coreDumps'],
            minAgeSeconds: { coreDumps: 259_200 },
            // Every Pod needs it, no container uses it, and an older runtime does not pin it.
            keepImages: ['*/pause:*', '@pinned'],
            maxDelete: '40Gi',
            stopAtUsedPercent: 70,
          },
          timeoutSeconds: 300,
        },
      ],
      verify: {
        conditions: all(condition('DiskPressure').is('False'), imagefs.usedPercent.below(78)),
        holdSeconds: 300,
        // The kubelet keeps reporting pressure for 5 minutes.
        timeoutSeconds: 900,
      },
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } }] },
  ],
  tests: [
    {
      name: 'the kubelet reports pressure',
      expect: 'Match',
      given: { ...pressure('True', 90), ...used(91, 10), ...cleaned() },
    },
    {
      name: 'pressure, and no word from the agent',
      expect: 'Match',
      given: { ...pressure('True', 90), ...cleaned() },
    },
    {
      name: 'rising, before the kubelet acts',
      expect: 'Match',
      given: { ...pressure('False', 9000), ...used(83, 600), ...cleaned() },
    },
    {
      name: 'full but not rising',
      expect: 'NoMatch',
      given: { ...pressure('False', 9000), ...used(83, 0), ...cleaned() },
    },
    {
      name: 'half full',
      expect: 'NoMatch',
      given: { ...pressure('False', 9000), ...used(50, 0), ...cleaned() },
    },
    {
      name: 'cleaned twice in this hour',
      expect: 'Held',
      given: { ...pressure('True', 90), ...used(91, 900), ...cleaned(600, 2400) },
    },
    { name: 'agent silent', expect: 'Indeterminate', given: { ...pressure('False', 9000), ...cleaned() } },
    {
      name: 'history unknown',
      expect: 'Indeterminate',
      given: { ...pressure('True', 90), ...used(91, 900) },
    },
  ],
};

function pressure(status: 'True' | 'False', observedSeconds: number): object {
  return { condition: { DiskPressure: { status, observedSeconds } } };
}

function used(usedPercent: number, risingSeconds: number): object {
  return { disk: { imagefs: { usedPercent, risingSeconds } } };
}

/** Each time the disk was cleaned, so many seconds ago. */
function cleaned(...ages: readonly number[]): object {
  return { history: ages.map((ageSeconds) => ({ action: 'CleanDisk', ageSeconds })) };
}
