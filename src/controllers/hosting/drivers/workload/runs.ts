/** Finds what each member of a control plane is to run with: what it was changed to, or what is settled. Pure. */
import { digestOf } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  isApiServer,
  isEtcdMember,
  isRunMember,
  type MemberRun,
  OWN_CONTROLLERS,
  type PlanePlacement,
  RUN_MEMBERS,
} from '../driver.ts';
import { type MemberRuns, memberRuns, settingsWith } from '../runs.ts';
import { settledOf } from './differences.ts';
import { RUN_WORKLOADS, type WorkloadMember } from './names.ts';
import type { WorkloadRecord } from './record.ts';

export function workloadRuns(record: WorkloadRecord): MemberRuns {
  const runs = memberRuns(settledOf(record));
  const changed = RUN_WORKLOADS.map(
    (member) => [member, record.members[member]?.run ?? runs[member]] as const,
  );
  return { ...runs, ...Object.fromEntries(changed) };
}

/** Undefined: our own controllers, whose image is not recorded. */
export function recordedRun(record: WorkloadRecord, member: WorkloadMember): MemberRun | undefined {
  if (isRunMember(member)) return workloadRuns(record)[member];
  return record.members[member]?.run ?? memberRuns(settledOf(record))[OWN_CONTROLLERS];
}

/**
 * Returns the record as the builder of this member reads it: with the flags and requests of the members as they are now. Of several members of
 * a kind each has its own flags while a change reaches them one after the other.
 */
export function runningRecord(record: WorkloadRecord, member: WorkloadMember): WorkloadRecord {
  const runs = workloadRuns(record);
  const settings = settingsWith(record.settings, withOwn(runs, member));
  return { ...record, settings, placement: { ...record.placement, requests: requestsOf(runs) } };
}

function withOwn(runs: MemberRuns, member: WorkloadMember): MemberRuns {
  if (isEtcdMember(member)) return { ...runs, [ETCD_MEMBERS[0]]: runs[member] };
  return isApiServer(member) ? { ...runs, [API_SERVERS[0]]: runs[member] } : runs;
}

function requestsOf(runs: MemberRuns): PlanePlacement['requests'] {
  const reserved = RUN_MEMBERS.map((member) => [member, runs[member].requests ?? {}] as const);
  return Object.fromEntries(reserved);
}

/**
 * Identifies what a pod is made from. It contains nothing that hosting itself adds, so that a later version of hosting, which makes other
 * pods of the same, starts none again. `phase` counts the phases of rotations: a member is started again for each.
 */
export function runDigest(run: MemberRun | undefined, image: string, phase?: number): string {
  const { version, flags = {}, requests = {} } = run ?? {};
  return digestOf({ version, flags, requests, image, ...optional('phase', phase) });
}

/** Undefined: the image of the member was not recorded, because an earlier version of hosting started it. */
export function recordedDigest(record: WorkloadRecord, member: WorkloadMember): string | undefined {
  const { image, phase } = record.members[member] ?? {};
  return image === undefined ? undefined : runDigest(recordedRun(record, member), image, phase);
}
