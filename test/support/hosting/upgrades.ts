/** Builders for control planes whose version or flags are being changed. */
import type { PlaneMember, RunMember } from '../../../src/controllers/hosting/drivers/driver.ts';
import {
  type MemberRuns,
  memberRuns,
  settledDifferences,
} from '../../../src/controllers/hosting/drivers/runs.ts';
import type { Hosted, HostingInput, Upgrade } from '../../../src/controllers/hosting/plan/input.ts';
import { planeOf } from '../../../src/controllers/hosting/plan/plane-of.ts';
import { targetDigest } from '../../../src/controllers/hosting/plan/upgrade/target.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { NOW } from '../builders.ts';
import {
  HOSTED,
  hostedCluster,
  hostingInput,
  members,
  OLD_VERSION,
  PROGRAMS,
  settledPlane,
  VERSION,
} from './objects.ts';

/** The runs of members: settled at the old version, emulating the old one, or settled at the new one. */
export const RUNS = {
  old: memberRuns(settledPlane(OLD_VERSION)),
  emulating: memberRuns(settledPlane(VERSION), '1.35'),
  new: memberRuns(settledPlane(VERSION)),
} as const;
export type RunName = keyof typeof RUNS;

export interface UpgradeParts {
  readonly step?: string;
  /** Seconds since the step began. */
  readonly seconds?: number;
  readonly settled?: 'old' | 'new';
  /** What each member is recorded with; default: as settled. */
  readonly runs?: Partial<Record<RunMember, RunName>>;
  readonly but?: Parameters<typeof members>[0];
  readonly hosted?: Partial<Hosted>;
  readonly upgrade?: Partial<Upgrade>;
  readonly status?: object;
  readonly plane?: Partial<HostingInput['plane']>;
  readonly input?: Partial<HostingInput>;
}

/** Returns an upgrade from v1.35.4 to v1.36.3, at that step, where every member answers. Without a step none is recorded. */
export function upgradeInput(parts: UpgradeParts = {}): HostingInput {
  const { settled = 'old', but = {}, plane = {}, input = {}, status = {} } = parts;
  const hosted = { version: VERSION, ...parts.hosted };
  const spec = planeOf(hostedCluster({ hosted }), { ...HOSTED, ...hosted });
  const base = settledPlane(settled === 'old' ? OLD_VERSION : VERSION);
  return hostingInput({
    hosted,
    status: { conditions: [], hosted: { ...recordedUpgrade(parts), ...status } },
    plane: {
      settled: base,
      differences: settledDifferences(base, spec),
      programs: PROGRAMS,
      members: membersWith({ ...runNames(settled), ...parts.runs }, but),
      ...plane,
    },
    input: { canary: 'Passed', ...input },
  });
}

function recordedUpgrade({ step, seconds = 10, upgrade }: UpgradeParts): { readonly upgrade?: Upgrade } {
  if (step === undefined) return {};
  const since = wholeSeconds(new Date(+NOW - seconds * 1000));
  const digest = targetDigest(settledPlane(VERSION));
  return { upgrade: { from: OLD_VERSION, to: VERSION, step, since, digest, ...upgrade } };
}

function runNames(name: RunName): Record<RunMember, RunName> {
  return {
    etcd: name,
    'etcd-1': name,
    'etcd-2': name,
    'etcd-3': name,
    'etcd-4': name,
    'kube-apiserver': name,
    'kube-apiserver-1': name,
    'kube-apiserver-2': name,
    'kube-controller-manager': name,
    'kube-scheduler': name,
  };
}

function membersWith(
  names: Record<RunMember, RunName>,
  but: NonNullable<Parameters<typeof members>[0]>,
): ReturnType<typeof members> {
  const runs = Object.entries(names).map(([member, name]) => {
    const run = (RUNS[name] satisfies MemberRuns)[member as RunMember];
    return [member, { run, version: run.version, ...but[member as PlaneMember] }] as const;
  });
  return members({ ...but, ...Object.fromEntries(runs) });
}
