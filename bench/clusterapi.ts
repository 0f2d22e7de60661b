/** Beside Cluster API: the answers of the update extension, what followed machines take, and an update of machines in place. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { noCoreReason } from '../test/support/cluster-api/core.ts';
import type { Bench, BenchResult, Gate } from './bench.ts';
import { type FollowedNumbers, measureFollowed, type QuietNumbers } from './clusterapi/followed.ts';
import type { HookTimes } from './clusterapi/hooks.ts';
import { measureUpgrade, type UpgradeNumbers } from './clusterapi/upgrade.ts';

const MACHINES = Number(env['KUBENODE_BENCH_MACHINES'] ?? 500);
const UPDATED = Math.min(50, MACHINES);
const ANSWER_MS = 100;
const MORE_MIB = 60;

export const bench: Bench = {
  name: 'clusterapi',
  what: `kubenode controllers --cluster-api on a real API server: answers of the update extension about ${MACHINES} machines, memory and requests with ${MACHINES} followed machines against none beside the same Nodes; the real core of Cluster API updates ${UPDATED} machines in place, with simulated agents`,
  run,
};

async function run(): Promise<BenchResult> {
  const reason = await noCoreReason();
  if (reason !== undefined) throw new Error(reason);
  const folders = await Promise.all(
    ['followed', 'upgrade'].map((part) => mkdtemp(join(tmpdir(), `kubenode-bench-clusterapi-${part}-`))),
  );
  const [first = '', second = ''] = folders;
  try {
    const followed = await measureFollowed(MACHINES, first);
    stderr.write(`  ${UPDATED} machines are updated in place\n`);
    return resultOf(followed, await measureUpgrade(UPDATED, second));
  } finally {
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
  }
}

function resultOf(followed: FollowedNumbers, upgrade: UpgradeNumbers): BenchResult {
  const { without, following, hooks } = followed;
  const more = moreMiB(followed);
  return {
    measured: {
      ...named('', answerTimes(hooks)),
      ...named('moreMiB.', more),
      ...named('quiet.', followed.with),
      ...named('following.', following),
      ...named('upgrade.', { ...upgrade }),
    },
    baseline: named('quiet.', without),
    ratios: { residentMiB: followed.with.residentMiB / without.residentMiB },
    gates: [...answerGates(hooks), ...quietGates(followed, more), ...upgradeGates(upgrade)],
    setting: { machines: MACHINES, updatedMachines: UPDATED },
  };
}

type Numbers = Readonly<Record<string, number>>;

function named(prefix: string, numbers: Numbers | QuietNumbers | FollowedNumbers['following']): Numbers {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [`${prefix}${name}`, value]));
}

function answerTimes(hooks: HookTimes): Numbers {
  const entries = Object.entries(hooks).flatMap(([name, times]) =>
    Object.entries(times).map(([each, ms]) => [`${name}.${each}`, ms as number] as const),
  );
  return Object.fromEntries(entries);
}

function answerGates(hooks: HookTimes): readonly Gate[] {
  return ['canUpdateMachineSet', 'canUpdateMachine', 'updateMachine'].map((hook) => {
    const times = Object.entries(hooks).filter(([name]) => name.replace(/(Version|Files).*$/, '') === hook);
    const value = Math.max(...times.map(([, { p95Ms }]) => p95Ms));
    return { what: `ms for an answer of ${hook} (p95 of its slowest question)`, value, atMost: ANSWER_MS };
  });
}

function moreMiB({ without, with: quiet }: FollowedNumbers): {
  readonly resident: number;
  readonly heap: number;
} {
  return { resident: quiet.residentMiB - without.residentMiB, heap: quiet.heapMiB - without.heapMiB };
}

function quietGates(followed: FollowedNumbers, more: ReturnType<typeof moreMiB>): readonly Gate[] {
  const { with: quiet, following } = followed;
  return [
    { what: `MiB more with ${MACHINES} followed machines`, value: more.resident, atMost: MORE_MIB },
    {
      what: 'requests for machines in a minute in which nothing changes, apart from watches',
      value: quiet.machines,
      atMost: 0,
    },
    // A change on the way may have the same condition written twice.
    {
      what: 'conditions that are written for a machine until it is followed',
      value: following.conditions / MACHINES,
      atMost: 2,
    },
  ];
}

function upgradeGates({ replaced }: UpgradeNumbers): readonly Gate[] {
  return [{ what: `of ${UPDATED} machines are replaced`, value: replaced, atMost: 0 }];
}
